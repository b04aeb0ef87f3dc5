#if !canImport(Darwin)
/// Actions that are undone together, the last one first.
struct UndoGroup {
  /// An action that undoes one change.
  struct Action {
    /// The target of the action; it is not kept alive, and without it there is nothing to do.
    weak var target: AnyObject?
    let perform: () -> Void
  }

  var name = ""
  var isDiscardable = false
  var userInfo: [AnyHashable: Any] = [:]
  private(set) var actions: [Action] = []

  var isEmpty: Bool { actions.isEmpty }

  mutating func append(_ action: Action) { actions.append(action) }

  /// Appends a nested group.
  mutating func append(contentsOf nested: UndoGroup) {
    actions += nested.actions
    if name.isEmpty { name = nested.name }
    isDiscardable = isDiscardable || nested.isDiscardable
    userInfo.merge(nested.userInfo) { own, _ in own }
  }

  /// Removes the actions of a target, and of freed targets.
  mutating func removeActions(of target: AnyObject) {
    actions.removeAll { $0.target === target || $0.target == nil }
  }

  func perform() {
    for action in actions.reversed() where action.target != nil { action.perform() }
  }
}
#endif
