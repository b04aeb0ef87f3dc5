public import Foundation
public import Observation

/// The results of a fetch, kept up to date while its context and others change models.
///
/// ```swift
/// let open = try ResultsObserver(
///   filterBy: #Predicate<Job> { !$0.isDone },
///   sortBy: [SortDescriptor(\.due)],
///   modelContext: context
/// )
/// for job in open.results { print(job.title) }
/// ```
///
/// ``results`` are at any time what the context would fetch: unsaved changes count, and so do the saves of other
/// contexts of the container. Code that tracks them (`withObservationTracking`, `Observations`, a
/// view) is notified once when they are about to change, and reads again: when a model is added or removed, when a
/// property changes that the predicate, the sort or the sections read, after a save, a rollback, an undo.
///
/// A context takes over the saves of others as long as it has an observer: the main context, and one observed by an
/// actor, at the actor's next turn; any other when its results are read.
///
/// An observer belongs to the owner of its context, and keeps the context, which does not keep the observer.
///
/// A change of *k* models takes O(*k* log *n*) at the next read of the results, with a limit or an offset, too. It takes
/// another fetch if a model's place depends on more than its own attributes: with a predicate, a sort or sections
/// that read other models or computed properties; without `includePendingChanges`; in a store of snapshots; and with an
/// offset of thousands. With a limit, another fetch runs once as many models have left as are known after those shown:
/// half as many, and eight.
public final class ResultsObserver<Element, SectionTitle>: CustomDebugStringConvertible
where Element: PersistentModel, SectionTitle: Hashable {
  let live: LiveResults<Element, SectionTitle>

  /// The key path of the sections' titles, or `nil` for results without sections.
  public let sectionBy: PartialKeyPath<Element>?

  init(
    _ descriptor: FetchDescriptor<Element>,
    sectionBy: PartialKeyPath<Element>? = nil,
    title: ((Element) -> SectionTitle)? = nil,
    _ context: ModelContext,
    _ isolation: (any Actor)?
  ) throws {
    self.sectionBy = sectionBy
    live = try LiveResults(
      descriptor,
      sectionedBy: sectionBy.flatMap { keyPath in title.map { ($0, keyPath) } },
      in: context,
      isolation: isolation
    )
  }

  /// The context of the models.
  public var modelContext: ModelContext { live.context }

  public var debugDescription: String {
    let sections = sections.map { ", \($0.count) sections" } ?? ""
    return "ResultsObserver<\(Element.self)>(\(results.count) results\(sections))"
  }
}

extension ResultsObserver: nonisolated Observable {}

// MARK: The query

extension ResultsObserver {
  /// The fetch.
  public var fetchDescriptor: FetchDescriptor<Element> {
    live.signal.trackQuery()
    return live.descriptor
  }

  /// The condition that models must meet; `nil` matches all.
  ///
  /// Setting it makes the results be fetched again at their next read.
  public var filterBy: Predicate<Element>? {
    get { fetchDescriptor.predicate }
    set {
      var descriptor = live.descriptor
      descriptor.predicate = newValue
      live.setDescriptor(descriptor)
    }
  }

  /// The order of the models.
  ///
  /// Setting it makes the results be fetched again at their next read.
  public var sortBy: [SortDescriptor<Element>] {
    get { fetchDescriptor.sortBy }
    set {
      var descriptor = live.descriptor
      descriptor.sortBy = newValue
      live.setDescriptor(descriptor)
    }
  }
}

// MARK: The results

extension ResultsObserver {
  /// The models that match, in order.
  ///
  /// A value: later changes do not affect it. If the results cannot be updated, they
  /// stay as they were, and ``fetchError`` has the reason.
  ///
  /// - Complexity: O(*k* log *n*) for *k* models changed since the last read, or another fetch; see
  ///   ``ResultsObserver``.
  public var results: FetchResultsCollection<Element> {
    FetchResultsCollection(ListedResults(live.current.tree))
  }

  /// The models by section, or `nil` for results without sections.
  ///
  /// - Complexity: As ``results``, and O(*s* log *s*) for *s* sections if one of them appeared, vanished or has
  ///   another first model.
  public var sections: SectionedResults<Element, SectionTitle>? {
    live.hasSections ? live.current.sections : nil
  }

  /// The changes from now on, beginning with the current results: a sequence for a task that keeps a list up to date.
  public var changes: ResultsChanges<Element, SectionTitle> { ResultsChanges(live: live) }

  /// Makes a cursor, which returns without waiting the changes since its last read.
  public func makeCursor() -> ResultsCursor<Element, SectionTitle> { ResultsCursor(live) }

  /// The error of the last update of the results, or `nil`.
  ///
  /// The initializer throws; later there is no caller to throw to. The fetch is tried again whenever the results
  /// are read.
  public var fetchError: (any Error)? {
    _ = live.current
    return live.error
  }

  /// The model at an index path of section and position; without sections the section is 0.
  ///
  /// - Returns: The model, or `nil` if there is none.
  /// - Complexity: O(log *n*).
  public func element(at indexPath: IndexPath) -> Element? {
    guard indexPath.count == 2 else { return nil }
    let (section, item) = (indexPath[0], indexPath[1])
    if let sections {
      guard sections.indices.contains(section), sections[section].indices.contains(item) else {
        return nil
      }
      return sections[section][item]
    }
    let results = results
    return section == 0 && results.indices.contains(item) ? results[item] : nil
  }

  /// The index path of a model, of section and position; without sections the section is 0.
  ///
  /// - Returns: The index path, or `nil` if the model is not among the results.
  /// - Complexity: O(log *n*), or O(*n*) if each change takes another fetch.
  public func indexPath(for element: Element) -> IndexPath? {
    if live.hasSections {
      return live.place(of: element).map { IndexPath(indexes: [$0.section, $0.item]) }
    }
    return live.position(of: element).map { IndexPath(indexes: [0, $0]) }
  }
}
