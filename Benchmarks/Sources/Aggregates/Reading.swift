import Foundation
import SwiftData

/// A reading of one of a hundred sensors.
@Model final class Reading {
  var sensor: String
  /// Different for each of the first 2^32 readings.
  var value: Double
  var number: Int
  var note: Int

  init(sensor: String, value: Double, number: Int, note: Int) {
    self.sensor = sensor
    self.value = value
    self.number = number
    self.note = note
  }
}

/// The readings that every contender has: what a formula says, which `aggregates-in-duckdb` repeats.
struct Readings: Sequence {
  let count: Int

  static func values(of index: Int) -> (String, Double, Int, Int) {
    let mixed = index &* 2_654_435_761 & 0xFFFF_FFFF
    return (sensors[mixed % 100], Double(mixed) / 16, index &* 7919 % 1000, 0)
  }

  private static let sensors = (0..<100).map { "sensor-\($0)" }

  func makeIterator() -> some IteratorProtocol<(String, Double, Int, Int)> {
    (0..<count).lazy.map(Readings.values).makeIterator()
  }
}

/// A question about readings, and who answers it.
protocol ReadingStore {
  /// Readings and the sum of their numbers by sensor, in the order of the sensors.
  func groups() throws -> [String]
  /// The sum of all values, the ten greatest values and the median and the 99th percentile of the values.
  func sum() throws -> [String]
  func greatest() throws -> [String]
  func percentiles() throws -> [String]
}

extension ReadingStore {
  func ask(_ question: Question) throws -> [String] {
    switch question {
    case .groups: try groups()
    case .sum: try sum()
    case .greatest: try greatest()
    case .percentiles: try percentiles()
    }
  }
}

enum Question: CaseIterable { case groups, sum, greatest, percentiles }

/// A number in as many digits as two ways of adding it up agree on.
func rounded(_ value: Double) -> String { String(format: "%.7g", value) }
