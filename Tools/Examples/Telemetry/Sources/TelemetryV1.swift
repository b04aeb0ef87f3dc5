import SwiftData

/// The models of the first release, which only knew temperatures.
///
/// A released version is never changed again: stores that it wrote are opened with it, and migrated from there.
enum TelemetryV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Device.self, Reading.self] }

  @Model
  final class Device {
    @Attribute(.unique) var serial: String
    var name: String

    init(serial: String, name: String) {
      self.serial = serial
      self.name = name
    }
  }

  @Model
  final class Reading {
    #Index<Reading>([\.serial, \.time, \.number], [\.time, \.number])

    var number: Int
    var serial: String
    var time: Date
    var celsius: Double

    init(number: Int, serial: String, time: Date, celsius: Double) {
      self.number = number
      self.serial = serial
      self.time = time
      self.celsius = celsius
    }
  }
}
