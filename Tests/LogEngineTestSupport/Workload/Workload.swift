package import LogEngine

/// What a program does to a store, made from a seed: a script of steps and the options it runs with.
package struct Workload: Sendable {
  package var seed: UInt64
  package var options: EngineOptions
  package var steps: [Step]

  package enum Step: Sendable, Hashable {
    case commit(Mixture)
    case changeCatalogue(CatalogueStep)
    case checkpoint
    case backgroundWork
    /// Has a reader beside the writer catch up.
    case follow
    /// Packs what can be packed.
    case compact
    /// Makes everything acknowledged durable.
    case synchronize
    /// Closes the store and opens it again.
    case close
    /// Lets go of the store as a process does that ends, and opens it again.
    case abandon
  }

  /// What a commit consists of.
  package struct Mixture: Sendable, Hashable {
    package var inserts = 0
    package var updates = 0
    package var deletes = 0
    /// How long the longest text of a row may be.
    package var textByteCount = 40
  }

  package enum CatalogueStep: Sendable, Hashable, CaseIterable {
    case addColumn, renameColumn, retireColumn, addTable, renameTable, removeTable
  }
}

extension Workload {
  /// Makes a script of mostly small commits into small segments.
  package init(seed: UInt64, stepCount: Int) {
    var random = SeededGenerator(seed: seed)
    self.seed = seed
    options = EngineOptions.random(using: &random)
    steps = (0..<stepCount).map { _ in Step.random(using: &random) }
  }
}

extension Workload {
  /// Makes a script in which the log is packed again and again, and rows live long enough to be packed
  /// more than once.
  package static func compacting(seed: UInt64, stepCount: Int) -> Workload {
    var random = SeededGenerator(seed: seed).forked(3)
    var workload = Workload(seed: seed, stepCount: stepCount)
    workload.options.smallestSegment = 8192
    workload.options.largestSegment = 8192 << Int.random(in: 0...1, using: &random)
    workload.options.compactOften(using: &random)
    for index in workload.steps.indices where random.oneIn(8) { workload.steps[index] = .compact }
    return workload
  }
}

extension EngineOptions {
  /// Knobs of compaction, for stores of some ten kilobytes: half of them compact by themselves, in steps
  /// between which anything may happen.
  package mutating func compactOften(using random: inout SeededGenerator) {
    if random.oneIn(2) { compaction = .automatic }
    idleDelay = random.oneIn(2) ? .zero : nil
    compactionStepByteCount = 256 << Int.random(in: 0...8, using: &random)
    compactionPolicy.slackByteCount = 1 << Int.random(in: 0...12, using: &random)
    compactionPolicy.segmentCount = Int.random(in: 1...6, using: &random)
    compactionPolicy.smallPackCount = Int.random(in: 2...8, using: &random)
    compactionPolicy.packByteCounts = (512 << Int.random(in: 0...6, using: &random))...(1 << 20)
    packs.blockByteCount = 256 << Int.random(in: 0...7, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: history = HistoryRetention(byteCount: 8192 << Int.random(in: 0...4, using: &random))
    case 1: history = HistoryRetention(age: .milliseconds(Int.random(in: 0...50, using: &random)))
    default: history = .nothing
    }
  }

  /// Knobs that change how a store works and never what it holds.
  static func random(using random: inout SeededGenerator) -> EngineOptions {
    var options = EngineOptions()
    options.background = .caller
    options.reads = .copied
    options.smallestSegment = 8192 << Int.random(in: 0...2, using: &random)
    options.smallestSegmentFile = 8192
    options.largestSegment = options.smallestSegment << Int.random(in: 0...2, using: &random)
    options.checkpointInterval = 4096 << Int.random(in: 0...6, using: &random)
    options.longestChain = Int.random(in: 1...8, using: &random)
    // Every size of commits is copied in some runs, and taken over in others; no further number is drawn for it.
    options.takeoverByteCount = 128 << options.longestChain
    if random.oneIn(3) { options.durability = .relaxed(interval: .milliseconds(10)) }
    return options
  }
}

extension Workload.Step {
  static func random(using random: inout SeededGenerator) -> Workload.Step {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<70: .commit(.random(using: &random))
    case 70..<76: .changeCatalogue(.allCases.randomElement(using: &random) ?? .addColumn)
    case 76..<80: .checkpoint
    case 80..<86: .backgroundWork
    case 86..<90: .follow
    case 90..<94: .synchronize
    case 94..<97: .close
    default: .abandon
    }
  }
}

extension Workload.Mixture {
  static func random(using random: inout SeededGenerator) -> Workload.Mixture {
    // A commit in eight is so long that it does not fit what is left of a segment.
    let scale = random.oneIn(8) ? 10 : 1
    return Workload.Mixture(
      inserts: Int.random(in: 0...2, using: &random) * scale,
      updates: Int.random(in: 0...3, using: &random) * scale,
      deletes: random.oneIn(3) ? scale : 0,
      textByteCount: random.oneIn(6) ? 3000 : 40
    )
  }
}
