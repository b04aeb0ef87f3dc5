import LogEngineTestSupport
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

/// What the engine does to its files, in the order it does it, is what its models do.
@Suite struct `The steps of random scripts` {
  private final class Trace: Sendable {
    private let state = Mutex(ProtocolAutomaton(root: WorkloadRun.path))
    func take(_ step: ProtocolStep) { state.withLock { $0.take(step) } }
    var automaton: ProtocolAutomaton { state.withLock { $0 } }
  }

  private func run(_ workload: Workload) throws -> ProtocolAutomaton {
    let trace = Trace()
    let disk = SimulatedFileSystem(seed: workload.seed)
    let fileSystem = TracedFileSystem(disk) { trace.take($0) }
    var run = WorkloadRun(workload, on: fileSystem, ledger: Ledger())
    try run.begin()
    trace.take(.opened)
    for index in workload.steps.indices {
      let step = workload.steps[index]
      // What an opening mends is mended before anybody is told of anything.
      switch step {
      case .close, .abandon: trace.take(.ended)
      default: break
      }
      let issued = run.ledger.model.issued
      try run.perform(index)
      switch step {
      case .close, .abandon: trace.take(.opened)
      case .commit, .changeCatalogue:
        // Where there was nothing to change there was no commit.
        if workload.options.durability == .full, run.ledger.model.issued > issued {
          trace.take(.acknowledge)
        }
      default: break
      }
      if trace.automaton.violation != nil { break }
    }
    return trace.automaton
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `are steps that the models allow`(seed: UInt64) throws {
    for workload in [
      Workload(seed: seed, stepCount: 120), .compacting(seed: seed, stepCount: 120),
    ] {
      let automaton = try run(workload)
      #expect(automaton.violation == nil, "seed \(seed)")
      #expect(automaton.stepCount > 100, "seed \(seed)")
    }
  }

  /// A rule that is never looked at holds whatever the engine does.
  @Test func `put each rule to the test`() throws {
    var uses: [String: Int] = [:]
    for seed in 0..<12 as Range<UInt64> {
      let automaton = try run(.compacting(seed: seed, stepCount: 120))
      uses.merge(automaton.uses, uniquingKeysWith: +)
    }
    let rules = [
      "NO_SYNC", "NO_POISON", "SEAL_NOT_SYNCED", "SEGMENT_NAME_NOT_SYNCED",
      "SEGMENT_HEADER_NOT_SYNCED", "NAME_NOT_SEALED_END", "CLOSE_NOT_SYNCED", "SIZE_BELOW_END",
      "MANIFEST_BEFORE_MARK", "MANIFEST_NOT_SYNCED", "MANIFEST_ORDER", "MANIFEST_NAME_NOT_SYNCED",
      "PACK_NOT_SYNCED", "PACK_NAME_NOT_SYNCED", "LOG_NOT_SYNCED_BEFORE_MANIFEST",
      "REMOVED_BEFORE_MANIFEST",
    ]
    for rule in rules { #expect((uses[rule] ?? 0) > 20, "\(rule)") }
    #expect(Set(uses.keys) == Set(rules))
  }
}

/// The automaton refuses what a planted fault would do.
@Suite struct `A step out of order` {
  private static let segment = "/store/log/0000000000000001.seg"

  private func violation(of steps: [ProtocolStep]) -> String? {
    var automaton = ProtocolAutomaton(root: "/store")
    for step in steps { automaton.take(step) }
    return automaton.violation
  }

  private static let begun: [ProtocolStep] = [
    .opened, .create("/store/tmp/segment"), .rename("/store/tmp/segment", to: segment, nil),
    .synchronizeDirectory("/store/log"), .write(segment, 0..<SegmentHeader.byteCount),
    .synchronize(segment),
  ]
  private static let frame = SegmentHeader.byteCount..<(SegmentHeader.byteCount + 64)

  @Test func `is refused where a commit is not synchronized`() {
    let good = Self.begun + [.write(Self.segment, Self.frame), .synchronize(Self.segment)]
    #expect(violation(of: good + [.acknowledge]) == nil)
    let bad = Self.begun + [.write(Self.segment, Self.frame), .acknowledge]
    #expect(violation(of: bad)?.contains("NO_SYNC") == true)
  }

  @Test func `is refused where a segment's name or header is not`() {
    let nameless = Self.begun.filter { if case .synchronizeDirectory = $0 { false } else { true } }
    #expect(violation(of: nameless)?.contains("SEGMENT_NAME_NOT_SYNCED") == true)
    let headless = Self.begun.dropLast() + [.write(Self.segment, Self.frame)]
    #expect(violation(of: Array(headless))?.contains("SEGMENT_HEADER_NOT_SYNCED") == true)
  }

  @Test func `is refused where a file is cut off below its end`() {
    let written = Self.begun + [.write(Self.segment, Self.frame), .synchronize(Self.segment)]
    #expect(violation(of: written + [.setSize(Self.segment, Self.frame.upperBound)]) == nil)
    let cut = written + [.setSize(Self.segment, Self.frame.upperBound - 8)]
    #expect(violation(of: cut)?.contains("SIZE_BELOW_END") == true)
  }

  @Test func `is refused where a segment goes that has frames`() {
    var manifest = Manifest(
      number: 1,
      store: StoreIdentifier(low: 1, high: 2),
      lineage: StoreIdentifier(low: 1, high: 2)
    )
    manifest.isClean = true
    let published: [ProtocolStep] = [
      .create("/store/tmp/manifest"), .synchronize("/store/tmp/manifest"),
      .rename("/store/tmp/manifest", to: "/store/manifest.0000000000000001", manifest),
      .synchronizeDirectory("/store"),
    ]
    let steps = published + Self.begun + [.write(Self.segment, Self.frame)]
    #expect(violation(of: steps) == nil)
    let gone = steps + [.unlink(Self.segment)]
    #expect(violation(of: gone)?.contains("REMOVED_BEFORE_MANIFEST") == true)
  }
}
