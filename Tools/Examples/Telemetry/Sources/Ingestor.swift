import SwiftData

/// Stores readings, in the background and one batch after the other.
///
/// All readings are written here, so that their numbers can be counted up in memory.
@ModelActor
actor Ingestor {
  private var lastNumber: Int?

  /// Stores readings in one save: all of them, or none.
  ///
  /// An unknown device is made.
  ///
  /// - Parameters:
  ///   - readings: The readings.
  ///   - arrival: The time of readings that have none.
  /// - Returns: The number of readings stored.
  /// - Throws: What a save throws; nothing is stored then.
  func store(_ readings: [NewReading], at arrival: Date = .now) throws -> Int {
    do {
      let limits = try limits(of: Set(readings.map(\.serial)))
      var number = try lastNumber ?? highestNumber()
      for reading in readings {
        number += 1
        modelContext.insert(
          Reading(
            number: number,
            serial: reading.serial,
            time: reading.time ?? arrival,
            metric: reading.metric,
            value: reading.value,
            isAlarm: reading.value > limits[reading.serial, default: Device.defaultLimit]
          )
        )
      }
      try modelContext.save()
      lastNumber = number
      return readings.count
    } catch {
      modelContext.rollback()
      throw error
    }
  }

  /// The limit of each device, by serial.
  private func limits(of serials: Set<String>) throws -> [String: Double] {
    let known = FetchDescriptor<Device>(predicate: #Predicate { serials.contains($0.serial) })
    var limits: [String: Double] = [:]
    for (serial, limit) in try modelContext.fetch(known, \.serial, \.limit) {
      limits[serial] = limit
    }
    for serial in serials where limits[serial] == nil {
      modelContext.insert(Device(serial: serial))
      limits[serial] = Device.defaultLimit
    }
    return limits
  }

  private func highestNumber() throws -> Int {
    let highest = try modelContext.aggregate(FetchDescriptor<Reading>(), .maximum(\.number))
    return highest ?? 0
  }
}
