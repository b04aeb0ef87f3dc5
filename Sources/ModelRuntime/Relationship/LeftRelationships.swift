import CModelRuntime

// An object that is freed lets go of the models that its relationships led to, and may have been the last to hold them.
// A list that was read holds its members, and these may hold lists in turn: such a chain is freed link by link, each
// while the one before it is.

/// The relationships of objects that were freed too deep within others for theirs to be let go of there: a long chain
/// would overflow the stack.
private final class LeftRelationships {
  private var waiting: [[Relation]] = []

  /// Depth from which on relationships wait for the outermost object.
  static let deepest: UInt = 8

  private init() {}

  /// Lets relationships wait until the outermost object that this thread frees takes care of them.
  static func append(_ relations: [Relation]) {
    let left: LeftRelationships
    if let known = unsafe CModelRuntime_waitingDepartures() {
      left = unsafe Unmanaged.fromOpaque(known).takeUnretainedValue()
    } else {
      left = LeftRelationships()
      // The outermost object releases it.
      unsafe CModelRuntime_setWaitingDepartures(Unmanaged.passRetained(left).toOpaque())
    }
    left.waiting.append(relations)
  }

  /// Lets go of what waits on this thread, and of what comes to wait meanwhile.
  static func letGo() {
    guard let known = unsafe CModelRuntime_waitingDepartures() else { return }
    let left = unsafe Unmanaged<LeftRelationships>.fromOpaque(known).takeRetainedValue()
    CModelRuntime_setDepartureDepth(1)
    while var relations = left.waiting.popLast() { relations.removeAll() }
    CModelRuntime_setDepartureDepth(0)
    CModelRuntime_setWaitingDepartures(nil)
  }
}

extension [Relation] {
  /// Lets go of the models at the other ends, because the object itself is being freed.
  ///
  /// Those held by nobody else are freed at once, or soon: before the outermost of the objects is gone.
  mutating func leave() {
    let depth = CModelRuntime_departureDepth()
    if depth >= LeftRelationships.deepest {
      LeftRelationships.append(self)
      return self = []
    }
    CModelRuntime_setDepartureDepth(depth + 1)
    removeAll()
    CModelRuntime_setDepartureDepth(depth)
    if depth == 0 { LeftRelationships.letGo() }
  }
}
