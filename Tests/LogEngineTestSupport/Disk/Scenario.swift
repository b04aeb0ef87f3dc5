/// Which of the things a power cut can do it did: what a person needs to find a violation again.
package enum Scenario: Sendable, Hashable, CustomStringConvertible {
  case nothingKept
  case everythingKept
  case allBut(Int)
  case only(Int)
  case upTo(Int)
  /// One write in a state of its own, with all others kept or all lost.
  case write(Int, Fate, others: Fate)
  /// Names by a bit mask over the pending changes of names, with all data kept or all lost.
  case names(UInt64, data: Fate)
  /// Each operation by lot.
  case random(UInt64)

  package var description: String {
    switch self {
    case .nothingKept: "nothing kept"
    case .everythingKept: "everything kept"
    case .allBut(let index): "all but operation \(index)"
    case .only(let index): "only operation \(index)"
    case .upTo(let index): "operations before \(index)"
    case .write(let index, let fate, let others):
      "write \(index) \(fate.short), others \(others.short)"
    case .names(let mask, let data):
      "names \(String(mask, radix: 2)), data \(data.short)"
    case .random(let seed): "random \(seed)"
    }
  }
}

extension Fate {
  fileprivate var short: String {
    switch self {
    case .lost: "lost"
    case .kept: "kept"
    case .torn(let count): "torn after \(count) bytes"
    case .sectors(let fates):
      "sectors " + fates.map { String("onzg".dropFirst(Int($0.rawValue)).prefix(1)) }.joined()
    }
  }
}

extension Scenario {
  /// What becomes of each pending operation.
  package func fates(of pending: [PendingOperation]) -> [Fate] {
    var fates = [Fate](repeating: .lost, count: pending.count)
    switch self {
    case .nothingKept: break
    case .everythingKept: for index in fates.indices { fates[index] = .kept }
    case .allBut(let lost): for index in fates.indices where index != lost { fates[index] = .kept }
    case .only(let kept): fates[kept] = .kept
    case .upTo(let end): for index in 0..<end { fates[index] = .kept }
    case .write(let write, let fate, let others):
      for index in fates.indices { fates[index] = index == write ? fate : others }
    case .names(let mask, let data):
      var bit: UInt64 = 1
      for index in fates.indices {
        if pending[index].file != nil {
          fates[index] = data
        } else {
          fates[index] = mask & bit != 0 ? .kept : .lost
          bit <<= 1
        }
      }
    case .random(let seed):
      var random = SeededGenerator(seed: seed)
      let kept = Int.random(in: 1...7, using: &random)
      for index in fates.indices {
        fates[index] = randomFate(of: pending[index], keptOfEight: kept, using: &random)
      }
    }
    return fates
  }

  private func randomFate(
    of operation: PendingOperation,
    keptOfEight kept: Int,
    using random: inout SeededGenerator
  ) -> Fate {
    if Int.random(in: 0..<8, using: &random) < kept { return .kept }
    let sectors = operation.sectorCount
    guard sectors > 0, !random.oneIn(4) else { return .lost }
    // One sector in four is written right and the others are left, wiped or scrambled, as in
    // FoundationDB's simulation.
    return .sectors(
      (0..<sectors).map { _ in SectorFate.allCases.randomElement(using: &random) ?? .old }
    )
  }
}
