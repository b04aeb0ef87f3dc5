/// The state of a query that a user interface keeps between two renderings, independent of any framework.
///
/// A view's property updates it before the view is rendered, and returns its results:
///
/// ```swift
/// state.update(descriptor, in: modelContext)
/// for job in state.elements { print(job.title) }
/// ```
///
/// A rendering without changes fetches nothing: the descriptor is compared with the former one, and the results are those of
/// a ``ResultsObserver``.
///
/// A framework that renders again what it tracked under Observation needs no more. Another one sets ``onChange``. The product
/// `QueryUI` has a property wrapper on top of this, for frameworks in the style of SwiftUI.
///
/// It belongs to the main actor, and so do the contexts it is given.
@MainActor
public final class QueryState<Element: PersistentModel> {
  /// The fetch; the results follow at their next read.
  public var descriptor: FetchDescriptor<Element> {
    didSet { if descriptor != oldValue { stopObserving() } }
  }

  /// Called at the main actor's next turn after a change of the results, or of a value of one of them; once, until the
  /// results are read again.
  ///
  /// A value is an attribute or a reference to one model, as in ``ResultsChange/updated``; so the first save of a model counts,
  /// which gives it its identifier. A closure set here counts from the next read.
  public var onChange: (@MainActor () -> Void)? {
    didSet { if onChange == nil { stopWaiting() } }
  }

  // Not isolated, for the deinitializer alone.
  @safe private nonisolated(unsafe) var context: ModelContext?
  @safe private nonisolated(unsafe) var observer: ResultsObserver<Element, Never>?
  private var initialError: (any Error)?
  /// The results as an array, with the tree that it was made from.
  @safe private nonisolated(unsafe) var listed:
    (tree: ResultTree<RankedResult>, elements: [Element])?
  /// Makes the observer record updated results, for as long as ``onChange`` is set.
  @safe private nonisolated(unsafe) var updates: UpdatedModels<Element>?
  /// Waits for the next change to announce.
  private var announcement: Task<Void, Never>?

  /// Makes the state of a query; nothing is fetched before it has a context and is read.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - onChange: See ``onChange``.
  public init(
    _ descriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
    onChange: (@MainActor () -> Void)? = nil
  ) {
    self.descriptor = descriptor
    self.onChange = onChange
  }

  deinit {
    announcement?.cancel()
    // Views may be released on any thread; their models leave the context, which only the main actor may change.
    if MainActorThread.isCurrent { return }
    let remains = MainActorRemains([updates, listed, observer, context] as [Any?])
    (updates, listed, observer, context) = (nil, nil, nil, nil)
    remains.release()
  }
}

// MARK: The query

extension QueryState {
  /// Continues with a context, which belongs to the main actor.
  public func update(in context: ModelContext) {
    if self.context === context { return }
    self.context = context
    stopObserving()
  }

  /// Continues with a fetch and a context: the same ones as before, in most renderings.
  ///
  /// Descriptors, and the values that a predicate captured, are compared with `==`.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - context: The context, which belongs to the main actor.
  public func update(_ descriptor: FetchDescriptor<Element>, in context: ModelContext) {
    self.descriptor = descriptor
    update(in: context)
  }
}

// MARK: The results

extension QueryState {
  /// The models that match, in order; none without a context, and none if the first fetch failed.
  public var results: FetchResultsCollection<Element> {
    FetchResultsCollection(ListedResults(current))
  }

  /// The models that match, as an array.
  ///
  /// - Complexity: O(*n*) for the first read after models came, went or moved, then O(1).
  public var elements: [Element] {
    let tree = current
    if let listed, listed.tree.isSame(as: tree) { return listed.elements }
    let elements = tree.map { $0.model(as: Element.self) }
    listed = (tree, elements)
    return elements
  }

  /// The error of the last fetch, or `nil`; the fetch is tried again at the next read.
  public var fetchError: (any Error)? {
    let observer = observing()
    return observer == nil ? initialError : observer?.fetchError
  }

  private var current: ResultTree<RankedResult> {
    guard let observer = observing() else { return ResultTree() }
    let tree = observer.live.current.tree
    if onChange != nil { announceNextChange(of: observer.live) }
    return tree
  }

  private func observing() -> ResultsObserver<Element, Never>? {
    guard let context else { return nil }
    if let observer { return observer }
    do {
      observer = try ResultsObserver(fetchDescriptor: descriptor, modelContext: context)
      initialError = nil
    } catch {
      initialError = error
    }
    return observer
  }

  private func stopObserving() {
    stopWaiting()
    observer = nil
    listed = nil
  }
}

// MARK: Announcing

extension QueryState {
  private func announceNextChange(of live: LiveResults<Element, Never>) {
    if updates == nil { updates = live.updateLists.makeList() }
    updates?.removeAll()
    live.awaitChange()
    // A task that is already waiting announces this change, too.
    if announcement != nil { return }
    announcement = Task { [weak self, signal = live.signal, round = live.signal.round] in
      await signal.wait(past: round, isolation: #isolation)
      if !Task.isCancelled { self?.announce() }
    }
  }

  private func announce() {
    announcement = nil
    onChange?()
  }

  private func stopWaiting() {
    announcement?.cancel()
    announcement = nil
    updates = nil
  }
}
