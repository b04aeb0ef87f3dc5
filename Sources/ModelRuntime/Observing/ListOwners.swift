/// The objects of an observed context that have lists in memory: those whose observers a merge has to tell.
///
/// An object that has let go of its lists stays until a merge comes by; one that has some is never missed.
///
/// Safe to use, because objects take themselves out before they go (see ``ModelContext/forget(_:)``).
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

  /// The objects that have lists now, in no order; the others are forgotten.
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
