import LogEngineTestSupport
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `The pace of commits` {
  private let pace = SavePace(longestDelay: .milliseconds(20))

  @Test func `is not held back before compaction goes as fast as it can`() {
    let late = CompactionPace().latePressure
    for backPressure in [-1, 0, 1, late, .nan] { #expect(pace.rate(at: backPressure) == nil) }
    #expect(SavePace(longestDelay: .zero).rate(at: 100) == nil)
    #expect(SavePace(longestDelay: .seconds(-1)).rate(at: 100) == nil)
  }

  @Test func `falls the later compaction is, and never to nothing`() throws {
    var last = Double.infinity
    for backPressure in stride(from: 1.501, to: 4, by: 0.05) {
      let rate = try #require(pace.rate(at: backPressure))
      #expect(rate <= last && pace.rates.contains(rate))
      last = rate
    }
    #expect(last == pace.rates.lowerBound)
    #expect(pace.rate(at: .infinity) == pace.rates.lowerBound)
    #expect(try #require(pace.rate(at: 1.5001)) > pace.rates.upperBound * 0.99)
  }

  @Test func `is a wait in proportion to the bytes, in sleeps that are worth it`() {
    var pace = pace
    var now: Int64 = 1_000_000
    var waits: [Int] = []
    for _ in 0..<1000 {
      let wait = pace.delay(of: 2000, at: 10_000_000, now)
      if wait > 0 { waits.append(wait) }
      now += Int64(wait)
    }
    // Two megabytes at ten megabytes a second.
    #expect((190_000...210_000).contains(waits.reduce(0, +)))
    #expect(waits.allSatisfy { (1000...2000).contains($0) })
  }

  @Test(arguments: [1, 2000, 1 << 20, 1 << 30, Int.max])
  func `is never longer than its bound, alone or together`(byteCount: Int) {
    var pace = pace
    for _ in 0..<5 {
      let delay = pace.delay(of: byteCount, at: 1, 7)
      #expect((0...20_000).contains(delay))
    }
  }

  @Test(arguments: [Int64.min, -1_000_000_000, 1_000_000_000, Int64.max])
  func `is within its bound, whatever the clock does`(now: Int64) {
    var pace = pace
    _ = pace.delay(of: 1 << 20, at: 1, 7)
    for time in [now, 7] {
      let delay = pace.delay(of: 1 << 20, at: 1000, time)
      #expect((0...20_000).contains(delay))
    }
  }

  @Test func `makes no good what was not used`() {
    var pace = pace
    for now in [0, 1_000_000] as [Int64] {
      let delay = pace.delay(of: 5000, at: 1_000_000, now)
      #expect(delay == 5000)
    }
  }
}

@Suite struct `A schedule of compactions` {
  @Test func `holds commits back only while one is under way`() {
    var schedule = CompactionSchedule(longestSaveDelay: .milliseconds(20))
    func delay() -> Int { schedule.delay(of: 1 << 20, 0) }
    func record(_ backPressure: Double) -> Bool { schedule.recordBackPressure(backPressure) }
    #expect(!record(10))
    #expect(delay() == 0)
    schedule.begin()
    #expect(!record(1.2))
    #expect(record(10))
    #expect(delay() == 20_000)
    #expect(schedule.statistics.saveDelays.count == 1)
    #expect(schedule.statistics.saveDelays.total == .milliseconds(20))
    #expect(schedule.statistics.saveDelays.bytesPerSecond == 1 << 20)
    schedule.recordEnd(failure: nil, 0)
    #expect(!record(10))
    #expect(delay() == 0)
  }

  @Test func `holds nothing back that it was not asked to`() {
    var schedule = CompactionSchedule()
    func record(_ backPressure: Double) -> Bool { schedule.recordBackPressure(backPressure) }
    schedule.begin()
    #expect(!record(100))
  }
}
