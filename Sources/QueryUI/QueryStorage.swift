import ModelRuntime

/// The state that the `@Query` of a view keeps from one drawing to the next.
///
/// A framework keeps it as it keeps any object that a view makes: in its `@State`. Making one is cheap, and need not wait for
/// the main actor: frameworks make many, and keep the first.
@MainActor
public final class QueryStorage {
  /// Has the view drawn again: called after its results, or values of them, have changed, for a framework that does not
  /// learn that by Observation.
  ///
  /// Called once, until the results are read again. `nil`, as at the beginning, costs nothing.
  public var onChange: (@MainActor () -> Void)?

  /// Draws changes: calls ``onChange`` within a transaction.
  var transition: (@MainActor (() -> Void) -> Void)?

  /// The `QueryState` of the query's models.
  private var state: AnyObject?

  /// Makes a storage for a view that has not been drawn yet.
  public nonisolated init() {}

  func state<Element: PersistentModel>(of _: Element.Type) -> QueryState<Element> {
    if let state = state as? QueryState<Element> { return state }
    let state = QueryState<Element>()
    self.state = state
    return state
  }

  func change() {
    guard let onChange else { return }
    if let transition { transition(onChange) } else { onChange() }
  }
}
