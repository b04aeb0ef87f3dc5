/// Every state a store went through, by commit: what a recovered store is compared with.
///
/// What it keeps true: `durable ≤ acknowledged ≤ issued`, and the state of each commit up to
/// `issued` is known.
package struct ReferenceModel: Sendable {
  /// The state after each commit; the first is the empty store.
  package private(set) var states: [StoreContent] = [StoreContent()]
  /// The newest commit that returned.
  package private(set) var acknowledged = 0
  /// The newest commit that was promised to survive a power cut.
  package private(set) var durable = 0

  package init() {}

  /// The newest commit that was begun.
  package var issued: Int { states.count - 1 }

  /// What the newest commit, acknowledged or not, is to leave.
  package var newest: StoreContent { states[issued] }

  /// Which commits a store may hold that is opened now, or after a power cut.
  package var promise: Promise {
    Promise(durable: durable, acknowledged: acknowledged, issued: issued)
  }

  /// A commit is about to begin.
  package mutating func issue(_ content: StoreContent) {
    precondition(acknowledged == issued, "commit \(issued) is still under way")
    states.append(content)
  }

  /// The newest commit has returned.
  package mutating func acknowledge(isDurable: Bool) {
    acknowledged = issued
    if isDurable { durable = issued }
  }

  /// The newest commit was refused, and nothing of it may ever be seen.
  package mutating func retract() { states.removeLast(issued - acknowledged) }

  /// Everything acknowledged is durable now.
  package mutating func synchronize() { durable = acknowledged }

  /// The store was opened again, perhaps after a crash, and holds the commits up to one.
  package mutating func adopt(_ recovered: Int, isDurable: Bool) {
    precondition(durable...issued ~= recovered, "commit \(recovered) was never possible")
    states.removeLast(issued - recovered)
    acknowledged = recovered
    durable = isDurable ? recovered : min(durable, recovered)
  }
}

/// The bounds within which a recovered store must be.
package struct Promise: Hashable, Sendable {
  package var durable: Int
  package var acknowledged: Int
  package var issued: Int

  /// The commits that may be the newest after a power cut.
  package var afterPowerCut: ClosedRange<Int> { durable...issued }
  /// The commits that may be the newest after the process ended.
  package var afterProcessEnd: ClosedRange<Int> { acknowledged...issued }
}
