import Foundation

/// Keeps two saves under way from giving one unique key to two rows.
///
/// A save claims the keys it gives to rows and those it takes from them before it looks whether another row has one of
/// them, and holds the claim until its commit is visible, or has failed. Saves of other keys do not wait for it, and
/// no lock is held while a commit is written. Keys are known by their hashes: two of one hash wait for each other.
final class UniqueClaims: @unchecked Sendable {
  /// The keys of a save under way.
  final class Claim {
    fileprivate let names: [UInt64]
    /// The same, made when the first other save asks.
    fileprivate lazy var set = Set(names)
    fileprivate init(_ names: [UInt64]) { self.names = names }
  }

  private let condition = NSCondition()
  // Guarded by the condition.
  private var claims: [Claim] = []

  /// Claims keys; waits while another save has claimed one of them.
  func claim(_ names: [UInt64]) -> Claim {
    let claim = Claim(names)
    condition.lock()
    defer { condition.unlock() }
    while isContested(claim) { condition.wait() }
    claims.append(claim)
    return claim
  }

  /// Ends a claim: the commit is visible, or failed.
  func finish(_ claim: Claim) {
    condition.lock()
    defer { condition.unlock() }
    claims.removeAll { $0 === claim }
    condition.broadcast()
  }

  private func isContested(_ claim: Claim) -> Bool {
    claims.contains { other in
      // The smaller one is looked up in the larger one.
      claim.names.count <= other.names.count
        ? claim.names.contains(where: other.set.contains)
        : other.names.contains(where: claim.set.contains)
    }
  }
}
