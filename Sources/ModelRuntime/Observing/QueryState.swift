import Observation

/// What a `@Query` property of a user interface keeps between two drawings, without a framework.
///
/// A property wrapper holds one, calls ``update(in:)`` before a view is drawn, and hands out ``results``:
///
/// ```swift
/// @MainActor @propertyWrapper struct Query<Element: PersistentModel>: DynamicProperty {
///   @Environment(\.modelContext) private var modelContext
///   @State private var state: QueryState<Element>
///   func update() { state.update(in: modelContext) }
///   var wrappedValue: FetchResultsCollection<Element> { state.results }
/// }
/// ```
///
/// A framework that draws again when a tracked property changes needs no more. Another one passes `onChange`.
@MainActor
public final class QueryState<Element: PersistentModel> {
  /// The fetch; the results follow when they are next read.
  public var descriptor: FetchDescriptor<Element> {
    didSet { observer = nil }
  }

  private let onChange: @MainActor () -> Void
  private var context: ModelContext?
  private var observer: ResultsObserver<Element, Never>?
  private var initialError: (any Error)?
  /// Whether a change of what was read is going to be announced.
  private var isTracking = false

  /// Makes the state of a query; nothing is fetched before it has a context and is read.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - onChange: Called at the main actor's next turn after a change of the results; once, until they are read again.
  public init(
    _ descriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
    onChange: @escaping @MainActor () -> Void = {}
  ) {
    self.descriptor = descriptor
    self.onChange = onChange
  }

  /// Goes on with a context, which belongs to the main actor.
  public func update(in context: ModelContext) {
    if self.context === context { return }
    self.context = context
    observer = nil
  }

  /// The models that match, in order; none without a context, and none if the first fetch failed.
  public var results: FetchResultsCollection<Element> {
    guard let observer = current() else {
      return FetchResultsCollection(ListedResults<Element>(ResultTree()))
    }
    if isTracking { return observer.results }
    isTracking = true
    return withObservationTracking {
      observer.results
    } onChange: {
      Task { @MainActor [weak self] in self?.announce() }
    }
  }

  /// What went wrong when the results were last fetched, or `nil`; the fetch is tried again when they are next read.
  public var fetchError: (any Error)? {
    let observer = current()
    return observer == nil ? initialError : observer?.fetchError
  }

  private func current() -> ResultsObserver<Element, Never>? {
    guard let context else { return nil }
    if let observer { return observer }
    do {
      observer = try ResultsObserver(fetchDescriptor: descriptor, modelContext: context)
      initialError = nil
      // Another observer notifies another tracker; the former one is not heard any more.
      isTracking = false
    } catch {
      initialError = error
    }
    return observer
  }

  private func announce() {
    guard isTracking else { return }
    isTracking = false
    onChange()
  }
}
