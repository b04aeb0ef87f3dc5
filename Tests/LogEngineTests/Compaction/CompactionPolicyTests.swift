import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `The choice of what to pack` {
  private typealias Candidate = CompactionPolicy.Candidate

  private static func candidate(_ id: UInt32, live: Int, dead: Int) -> Candidate {
    var usage = SegmentUsage()
    usage.recordByteCount = live + dead
    usage.liveByteCount = live
    return Candidate(id: SegmentID(rawValue: id), usage: usage)
  }

  private static func candidates(
    _ ids: ClosedRange<UInt32>,
    live: Int,
    dead: Int
  ) -> [Candidate] {
    ids.map { candidate($0, live: live, dead: dead) }
  }

  private static func input(
    segments: [Candidate] = [],
    packs: [Candidate] = []
  ) -> CompactionPolicy.PickerInput {
    var input = CompactionPolicy.PickerInput()
    input.segments = segments
    input.packs = packs
    return input
  }

  private static var policy: CompactionPolicy {
    var policy = CompactionPolicy()
    policy.slackByteCount = 10
    policy.packByteCounts = 400...1_000_000
    return policy
  }

  private let policy = `The choice of what to pack`.policy

  @Test func `is nothing as long as little is dead`() {
    let input = Self.input(
      segments: Self.candidates(1...7, live: 90, dead: 10),
      packs: [Self.candidate(20, live: 900, dead: 100)]
    )
    #expect(policy.choose(from: input, .due).isEmpty)
    #expect(policy.pressure(of: input) < 1)
    #expect(policy.choose(from: input, .now) == .init(segmentCount: 7))
    let packs = Self.input(packs: input.packs)
    #expect(policy.choose(from: packs, .now).isEmpty)
  }

  @Test func `is nothing as long as few bytes are dead, whatever part that is`() {
    let input = Self.input(segments: [Self.candidate(1, live: 1, dead: 9)])
    #expect(policy.choose(from: input, .due).isEmpty)
    let more = Self.input(segments: [Self.candidate(1, live: 1, dead: 10)])
    #expect(!policy.choose(from: more, .due).isEmpty)
  }

  @Test func `is all segments, and the most dead packs, once a third of all is dead`() {
    let input = Self.input(
      segments: [Self.candidate(1, live: 600, dead: 0)],
      packs: [
        Self.candidate(10, live: 450, dead: 550), Self.candidate(11, live: 560, dead: 440),
        Self.candidate(12, live: 740, dead: 260), Self.candidate(13, live: 800, dead: 200),
      ]
    )
    let choice = policy.choose(from: input, .due)
    #expect(choice.segmentCount == 1)
    // With the first two what is left is below the bound.
    #expect(choice.packs == [SegmentID(rawValue: 10), SegmentID(rawValue: 11)])
  }

  /// What a compaction gains is there when it ends, and the log grows meanwhile.
  @Test func `is an eighth of the live rows at a time, where commits go on`() {
    var policy = policy
    policy.packByteCounts = 100...1_000_000
    let input = Self.input(
      segments: Self.candidates(1...10, live: 400, dead: 400),
      packs: Self.candidates(20...29, live: 400, dead: 300)
    )
    let choice = policy.choose(from: input, .due)
    #expect(choice.segmentCount == 3)
    #expect(choice.packs.count == 3)
    for urgency in [CompactionUrgency.idle, .quiescent, .now] {
      let choice = policy.choose(from: input, urgency)
      #expect(choice.segmentCount == 10)
      #expect(choice.packs.count >= 8)
    }
  }

  /// However well the rows pack: a store of ten times the rows would otherwise pack each ten times as often.
  @Test func `measures what is dead by what the rows take in the log`() {
    var input = Self.input(packs: Self.candidates(20...29, live: 700, dead: 300))
    let count = policy.choose(from: input, .due).packs.count
    #expect(count > 0)
    for index in input.packs.indices { input.packs[index].fileByteCount = 100 }
    #expect(policy.choose(from: input, .due).isEmpty)
  }

  @Test func `leaves a pack alone from which little is to be gained`() {
    let packs = Self.candidates(10...13, live: 80, dead: 20)
    let input = Self.input(segments: [Self.candidate(1, live: 0, dead: 300)], packs: packs)
    #expect(policy.choose(from: input, .due) == .init(segmentCount: 1))
  }

  @Test func `is eight segments, however alive`() {
    let input = Self.input(segments: Self.candidates(1...8, live: 100, dead: 0))
    #expect(policy.choose(from: input, .due).segmentCount == 8)
    #expect(policy.pressure(of: input) == 1)
  }

  @Test func `is made earlier when nothing else is to be done`() {
    let input = Self.input(segments: Self.candidates(1...4, live: 85, dead: 15))
    #expect(policy.choose(from: input, .due).isEmpty)
    #expect(policy.choose(from: input, .idle).segmentCount == 4)
  }

  @Test func `takes small packs along when there are many`() {
    var packs = Self.candidates(20...27, live: 90, dead: 0)
    packs.insert(Self.candidate(19, live: 400, dead: 0), at: 0)
    let input = Self.input(
      segments: Self.candidates(1...8, live: 10, dead: 0),
      packs: packs
    )
    let choice = policy.choose(from: input, .due)
    #expect(choice.packs == Set((20...27).map { SegmentID(rawValue: $0) }))
  }

  /// Rows of the log that nothing has replaced become smaller, too.
  @Test func `counts what packing would gain, and not only what is dead`() {
    var input = Self.input(
      segments: Self.candidates(1...2, live: 300, dead: 0),
      packs: [Self.candidate(9, live: 1000, dead: 0)]
    )
    #expect(policy.pressure(of: input) < 1)
    input.packs[0].fileByteCount = 400
    #expect(policy.pressure(of: input) > 1)
    #expect(policy.choose(from: input, .due) == .init(segmentCount: 2))
  }

  @Test func `has commits wait for what is dead, and not for what will only become smaller`() {
    var input = Self.input(
      segments: Self.candidates(1...20, live: 300, dead: 0),
      packs: [Self.candidate(9, live: 1000, dead: 0)]
    )
    input.packs[0].fileByteCount = 300
    #expect(policy.pressure(of: input) > 1.5)
    #expect(policy.backPressure(of: input) == 0)
    // The live rows stay as many: 7,000 bytes.
    input.segments = Self.candidates(1...20, live: 300, dead: 40)
    #expect(abs(policy.backPressure(of: input) - 800 / (0.22 * 7000)) < 0.001)
    // In a pack, what is dead has become smaller as well.
    input.segments = Self.candidates(1...20, live: 300, dead: 0)
    input.packs = [Self.candidate(9, live: 1000, dead: 1000)]
    input.packs[0].fileByteCount = 600
    #expect(abs(policy.backPressure(of: input) - 300 / (0.22 * 7000)) < 0.001)
  }

  /// A pack of nothing but keys whose rows have ended would be the same if it were written again.
  @Test func `does not go round in a circle`() {
    let input = Self.input(packs: [Self.candidate(9, live: 0, dead: 0)])
    #expect(policy.choose(from: input, .due).isEmpty)
    #expect(policy.choose(from: input, .now).isEmpty)
    #expect(policy.choose(from: Self.input(), .now).isEmpty)
  }

  @Test func `divides a store into packs of a size that grows with it`() {
    let policy = CompactionPolicy()
    let sizes = [0, 1 << 30, 64 << 30].map { live in
      policy.packByteCount(in: Self.input(segments: [Self.candidate(1, live: live, dead: 0)]))
    }
    #expect(sizes == [1 << 20, 64 << 20, 256 << 20])
  }
}

@Suite struct `The pace of a compaction` {
  @Test func `grows from the lowest rate to none at all as it gets later`() throws {
    let pace = CompactionPace()
    var last = 0.0
    for pressure in stride(from: 0.5, to: 1.5, by: 0.05) {
      let rate = try #require(pace.rate(at: pressure))
      #expect(rate >= last && rate >= pace.lowestRate && rate <= pace.highestRate)
      last = rate
    }
    #expect(pace.rate(at: 1) == pace.lowestRate)
    #expect(pace.rate(at: 1.5) == nil)
    #expect(last > pace.highestRate / 4)
  }

  @Test func `waits as long as the bytes of a step are worth`() {
    var pace = CompactionPace()
    pace.record(16 << 20, at: 1, 5_000_000)
    #expect((970_000...1_000_000).contains(pace.delay(5_000_000)))
    pace = CompactionPace()
    pace.record(1 << 20, at: 1, 5_000_000)
    #expect((42_000...63_000).contains(pace.delay(5_000_000)))
    #expect(pace.delay(5_100_000) == 0)
    pace.record(1 << 20, at: 2, 5_200_000)
    #expect(pace.delay(5_200_000) == 0)
  }

  @Test(arguments: [Int64.min / 2, -1_000_000_000, 1_000_000_000, Int64.max / 2])
  func `never waits long, whatever the clock does`(jump: Int64) {
    var pace = CompactionPace()
    pace.record(1 << 30, at: 1, 7)
    let delay = pace.delay(7 + jump)
    #expect((0...Int(pace.longestDelay)).contains(delay))
    #expect(pace.delay(7 + jump + Int64(delay)) == 0)
  }
}

@Suite struct `The history that stays` {
  private let segments = (0..<6).map { HistoryRetention.Segment(ended: $0 * 100, byteCount: 10) }

  private static let cases: [(HistoryRetention, Int)] = [
    (.nothing, 6), (.everything, 0), (HistoryRetention(byteCount: 9), 6),
    (HistoryRetention(byteCount: 10), 5), (HistoryRetention(byteCount: 35), 3),
    (HistoryRetention(byteCount: .max), 0), (HistoryRetention(age: .microseconds(250)), 3),
    (HistoryRetention(age: .microseconds(250), byteCount: 10), 5),
    (HistoryRetention(age: .microseconds(-1)), 6), (HistoryRetention(age: .seconds(Int64.max)), 0),
  ]

  @Test(arguments: cases)
  func `is whole segments within both limits`(retention: HistoryRetention, packable: Int) {
    #expect(retention.packableCount(of: segments, at: 500) == packable)
    #expect(retention.packableCount(of: [], at: 500) == 0)
  }

  @Test func `is not less because a clock jumped back`() {
    let retention = HistoryRetention(age: .seconds(1))
    #expect(retention.packableCount(of: segments, at: -10_000_000) == 0)
    #expect(retention.packableCount(of: segments, at: .min) == 0)
  }
}
