import Foundation
import Harness
import Workloads

/// The figures of a run of overwriting, second by second.
struct SteadyRun {
  private(set) var timeline: Timeline
  private(set) var rows = 0
  private let folder: URL
  private let trips: SteadyTrips
  private var histogram = LatencyHistogram()
  /// The time of all commits; drawing and weighing between them is not the store's work.
  private var busy: UInt64 = 0
  private var greatestSpace = 0.0
  /// The moment from which space counts: the remains of the rows' first insertion, at full speed, are no steady state.
  private var spaceBegin: UInt64 = 0
  /// The figures since the second began.
  private var second = (rows: 0, busy: UInt64(0), longest: UInt64(0))

  init(_ timeline: Timeline, _ folder: URL, _ trips: SteadyTrips) {
    self.timeline = timeline
    self.folder = folder
    self.trips = trips
  }

  mutating func overwrite(_ store: any MixedTripStore, forSeconds seconds: Double) throws {
    var random = SplitMix64(seed: 11)
    var records: [TripRecord] = []
    let begin = monotonicNanoseconds()
    let end = begin + UInt64(seconds * 1e9)
    spaceBegin = begin + UInt64(seconds * 0.5e9)
    var secondEnd = begin + 1_000_000_000
    var last: UInt64 = 0
    while last < end {
      trips.draw(&random, into: &records)
      let begin = monotonicNanoseconds()
      try store.overwrite(records[...])
      last = monotonicNanoseconds()
      count(last - begin)
      if last >= secondEnd {
        endSecond()
        secondEnd = monotonicNanoseconds() + 1_000_000_000
      }
    }
  }

  private mutating func count(_ duration: UInt64) {
    histogram.record(duration)
    busy += duration
    rows += SteadyTrips.rowsPerCommit
    second.rows += SteadyTrips.rowsPerCommit
    second.busy += duration
    second.longest = max(second.longest, duration)
  }

  private mutating func endSecond() {
    timeline.rowsPerSecond.append(Double(second.rows) * 1e9 / Double(max(second.busy, 1)))
    timeline.longestMicroseconds.append(Double(second.longest) / 1e3)
    second = (0, 0, 0)
    guard monotonicNanoseconds() >= spaceBegin else { return }
    // A file that goes meanwhile fails the listing; the next second has another.
    if let bytes = try? allocatedBytes(in: folder) {
      greatestSpace = max(greatestSpace, Double(bytes) / (Double(trips.rows) * trips.bytesPerRow))
    }
  }

  var sample: Sample {
    Sample(
      [
        .rowsPerSecond: Double(rows) * 1e9 / Double(max(busy, 1)),
        .spaceAmplification: greatestSpace,
      ],
      histogram: histogram
    )
  }
}
