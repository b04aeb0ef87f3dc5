/// A disk as a power cut may leave it, and how it came to that.
package struct CrashState: Sendable {
  package var scenario: Scenario
  package var disk: Disk
  /// ``Disk/hash`` of it.
  package var hash: UInt64
}

/// How many of the combinations that are too many to try are tried.
package struct CrashStateLimits: Sendable {
  /// Of the last writes, these many are taken apart sector by sector.
  package var tornWrites = 3
  /// Writes of up to so many sectors are tried with every subset of them.
  package var exhaustiveSectors = 10
  /// Of longer ones, so many random subsets.
  package var randomSubsets = 64
  /// Up to so many pending changes of names are tried with every subset of them.
  package var exhaustiveNames = 6
  /// So many states in which each operation goes its own way.
  package var randomStates = 8

  package init() {}

  /// A small share of everything, for crashes inside crashes.
  package static var few: CrashStateLimits {
    var limits = CrashStateLimits()
    limits.tornWrites = 1
    limits.exhaustiveSectors = 2
    limits.randomSubsets = 2
    limits.exhaustiveNames = 2
    limits.randomStates = 2
    return limits
  }
}

extension Disk {
  /// Visits the different states a power cut at this moment may leave.
  ///
  /// None of what is pending, all of it, all but one, one alone, every prefix; the last writes with
  /// every subset of their sectors, torn, wiped and scrambled; the names without the data and the data
  /// without the names; and some by lot. States that turn out the same are visited once.
  package func forEachCrashState(
    random: SeededGenerator,
    limits: CrashStateLimits = CrashStateLimits(),
    _ visit: (CrashState) throws -> Void
  ) rethrows {
    var seen: Set<UInt64> = []
    for scenario in scenarios(random: random, limits: limits) {
      let disk = afterPowerCut(scenario.fates(of: pending))
      let hash = disk.hash
      if seen.insert(hash).inserted {
        try visit(CrashState(scenario: scenario, disk: disk, hash: hash))
      }
    }
  }

  /// What to try; some may come to the same.
  package func scenarios(
    random: SeededGenerator,
    limits: CrashStateLimits = CrashStateLimits()
  ) -> [Scenario] {
    if pending.isEmpty { return [.nothingKept] }
    var random = random
    var scenarios: [Scenario] = [.nothingKept, .everythingKept]
    for index in pending.indices {
      scenarios += [.allBut(index), .only(index), .upTo(index)]
    }
    let writes = pending.indices.filter { pending[$0].sectorCount > 0 }
    for write in writes.suffix(limits.tornWrites) {
      scenarios += tears(of: write, limits: limits, using: &random)
    }
    scenarios += nameScenarios(limits: limits, using: &random)
    for _ in 0..<limits.randomStates { scenarios.append(.random(random.next())) }
    return scenarios
  }

  private func tears(
    of write: Int,
    limits: CrashStateLimits,
    using random: inout SeededGenerator
  ) -> [Scenario] {
    guard case .write(_, let offset, let bytes) = pending[write].effect else { return [] }
    var fates: [Fate] = []
    let sectors = pending[write].sectorCount
    if sectors <= limits.exhaustiveSectors {
      for mask in 0..<(1 << sectors) {
        fates.append(.sectors((0..<sectors).map { mask >> $0 & 1 == 1 ? .new : .old }))
      }
    } else {
      for _ in 0..<limits.randomSubsets {
        fates.append(.sectors((0..<sectors).map { _ in Bool.random(using: &random) ? .new : .old }))
      }
    }
    for fate in [SectorFate.zeros, .garbage] {
      let damaged =
        sectors <= limits.exhaustiveSectors
        ? Array(0..<sectors)
        : (0..<limits.randomSubsets / 8).map { _ in Int.random(in: 0..<sectors, using: &random) }
      for sector in damaged {
        fates.append(.sectors((0..<sectors).map { $0 == sector ? fate : .new }))
      }
    }
    fates += cuts(of: offset..<(offset + bytes.count), limits: limits, using: &random)
    var scenarios = fates.map { Scenario.write(write, $0, others: .kept) }
    // Without the others a torn write is seldom seen at all: a few will do.
    scenarios += fates.suffix(4).map { .write(write, $0, others: .lost) }
    return scenarios
  }

  /// Tears at the boundaries of sectors and of pages.
  private func cuts(
    of range: Range<Int>,
    limits: CrashStateLimits,
    using random: inout SeededGenerator
  ) -> [Fate] {
    var fates: [Fate] = []
    for unit in [sectorByteCount, Page.byteCount] {
      let first = (range.lowerBound / unit + 1) * unit
      var boundaries = Array(stride(from: first, to: range.upperBound, by: unit))
      if boundaries.count > limits.exhaustiveSectors {
        boundaries.shuffle(using: &random)
        boundaries.removeLast(boundaries.count - limits.exhaustiveSectors)
      }
      fates += boundaries.map { .torn(byteCount: $0 - range.lowerBound) }
    }
    return fates
  }

  private func nameScenarios(
    limits: CrashStateLimits,
    using random: inout SeededGenerator
  ) -> [Scenario] {
    let count = pending.count { $0.file == nil }
    guard count > 0 else { return [] }
    let masks: [UInt64] =
      count <= limits.exhaustiveNames
      ? Array(0..<(1 << UInt64(count)))
      : (0..<(1 << limits.exhaustiveNames)).map { _ in random.next() }
    return masks.flatMap { [.names($0, data: .lost), .names($0, data: .kept)] }
  }
}
