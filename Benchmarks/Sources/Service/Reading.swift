import Foundation
import SwiftData

/// A measurement of a device, as a telemetry service keeps millions of them.
@Model
final class Reading {
  #Index<Reading>([\.at], [\.serial, \.at], [\.state])

  var serial: String
  var metric: String
  var state: String
  var value: Double
  var at: Double
  var message: String

  init(_ record: ReadingRecord) {
    serial = record.serial
    metric = record.metric
    state = record.state
    value = record.value
    at = record.at
    message = record.message
  }
}

/// A device, found by its serial number.
@Model
final class Device {
  @Attribute(.unique) var serial: String
  var seen = 0

  init(serial: String) { self.serial = serial }
}

/// A measurement as plain values, which its number decides.
struct ReadingRecord {
  let number: Int

  static let deviceCount = 100
  static let states = ["fine", "worn", "broken"]
  private static let metrics = ["temperature", "humidity", "power"]

  static func serial(_ number: Int) -> String { "device-\(number % deviceCount)" }

  var serial: String { Self.serial(number) }
  var metric: String { Self.metrics[number % 3] }
  var state: String { Self.states[number / 7 % 3] }
  var value: Double { Double(number &* 2_654_435_761 % 10_000) / 100 }
  var at: Double { 1_760_000_000 + Double(number) }
  var message: String { number % 1000 == 0 ? "pump \(number) overheated" : "" }

  /// The checksum of the values that must be read.
  var checksum: Int { number + metric.utf8.count + Int(value) + message.utf8.count }

  /// The same, of values that were read.
  static func checksum(_ at: Double, _ metric: String, _ value: Double, _ message: String) -> Int {
    Int(at - 1_760_000_000) + metric.utf8.count + Int(value) + message.utf8.count
  }

  /// The same, of a moment and a value alone.
  static func valueSum(_ at: Double, _ value: Double) -> Int {
    Int(at - 1_760_000_000) + Int(value)
  }
}
