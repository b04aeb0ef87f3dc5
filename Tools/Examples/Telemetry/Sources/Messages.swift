import Hummingbird
import SwiftData

// The messages on the wire. Models stay where their context is; these are values.

/// A reading as a device sends it.
struct NewReading: Decodable, Sendable {
  var serial: String
  var metric: String
  var value: Double
  /// The time of measurement; the time of arrival, if not given.
  var time: Date?
}

/// A reading as the service returns it.
struct ReadingMessage: ResponseCodable, Equatable {
  var number: Int
  var serial: String
  var time: Date
  var metric: String
  var value: Double
  var isAlarm: Bool

  init(_ reading: Reading) {
    number = reading.number
    serial = reading.serial
    time = reading.time
    metric = reading.metric
    value = reading.value
    isAlarm = reading.isAlarm
  }
}

struct PageMessage: ResponseCodable {
  var readings: [ReadingMessage]
  /// To be sent back as `after`; `nil` on the last page.
  var next: PageToken?
}

struct HourMessage: ResponseCodable, Equatable {
  var hour: Date
  var metric: String
  var count: Int
  var minimum: Double
  var average: Double
  var maximum: Double
}

struct DeviceMessage: ResponseCodable, Equatable {
  var serial: String
  var name: String
  var limit: Double
  var readings: Int
  var latest: Date?
  var attachments: [String]
}

/// The changes to a device; fields that are left out stay.
struct DeviceChange: Decodable, Sendable {
  var name: String?
  var limit: Double?
}

struct StoredMessage: ResponseCodable {
  var stored: Int
}
