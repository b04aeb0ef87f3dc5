/// The objects of an observed context that have lists in memory, whose observers a merge must notify.
///
/// An object that has released its lists stays until the next merge; one with lists is never missing.
///
/// Safe to use, because objects remove themselves before they are freed (see ``ModelContext/forget(_:)``).
@safe struct ListOwners {
  private var states: [ObjectIdentifier: Unmanaged<_ModelState>] = unsafe [:]

  var count: Int { unsafe states.count }

  func contains(_ state: _ModelState) -> Bool { unsafe states[ObjectIdentifier(state)] != nil }

  /// Adds an object, if it has lists.
  mutating func insert(_ state: _ModelState) {
    guard !contains(state), state.hasLists else { return }
    state.flags.insert(.ownsLists)
    unsafe states[ObjectIdentifier(state)] = unsafe Unmanaged.passUnretained(state)
  }

  mutating func remove(_ state: _ModelState) {
    state.flags.remove(.ownsLists)
    unsafe states[ObjectIdentifier(state)] = nil
  }

  mutating func removeAll() {
    for state in all { remove(state) }
  }

  /// Returns the objects that have lists now, in no order; the others are removed.
  mutating func current() -> [_ModelState] {
    for state in all where !state.hasLists { remove(state) }
    return all
  }

  var all: [_ModelState] { unsafe states.values.map { unsafe $0.takeUnretainedValue() } }
}

extension _ModelState {
  /// Whether a list of the object is in memory, or a change of one.
  var hasLists: Bool { relations.contains { if case .many = $0 { true } else { false } } }
}
