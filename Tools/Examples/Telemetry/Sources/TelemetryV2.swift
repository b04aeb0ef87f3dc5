import SwiftData

/// The models of today: any metric, limits, alarms and attachments.
enum TelemetryV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Device.self, Reading.self, Attachment.self] }

  @Model
  final class Device {
    @Attribute(.unique) var serial: String
    var name: String
    /// Readings above it are alarms.
    var limit: Double = Device.defaultLimit
    @Relationship(deleteRule: .cascade, inverse: \Attachment.device) var attachments: [Attachment] =
      []

    static let defaultLimit = 80.0

    init(serial: String, name: String? = nil, limit: Double = Device.defaultLimit) {
      self.serial = serial
      self.name = name ?? serial
      self.limit = limit
    }
  }

  @Model
  final class Reading {
    // The order of pages: by time, and by number where times are equal.
    #Index<Reading>([\.serial, \.time, \.number], [\.time, \.number], [\.isAlarm, \.time])

    /// Given in the order of arrival, and never twice.
    var number: Int
    /// The device's; not a relationship, so that ingesting changes no device.
    var serial: String
    var time: Date
    var metric: String = "temperature"
    @Attribute(originalName: "celsius") var value: Double
    var isAlarm: Bool = false

    init(
      number: Int,
      serial: String,
      time: Date,
      metric: String,
      value: Double,
      isAlarm: Bool
    ) {
      self.number = number
      self.serial = serial
      self.time = time
      self.metric = metric
      self.value = value
      self.isAlarm = isAlarm
    }
  }

  @Model
  final class Attachment {
    var name: String
    var mediaType: String
    /// A large one is a file of its own, which is read when the property is.
    @Attribute(.externalStorage) var bytes: Data
    var device: Device?

    init(name: String, mediaType: String, bytes: Data, device: Device) {
      self.name = name
      self.mediaType = mediaType
      self.bytes = bytes
      self.device = device
    }
  }
}

typealias Device = TelemetryV2.Device
typealias Reading = TelemetryV2.Reading
typealias Attachment = TelemetryV2.Attachment
