import SwiftData

/// The airlines, airports and planes of one context, by the codes the flights name them with.
struct ReferenceData {
  private(set) var airlines: [String: Airline]
  private(set) var airports: [String: Airport]
  private(set) var planes: [String: Plane]

  init(in context: ModelContext) throws {
    airlines = try Self.fetch(in: context, by: \.code)
    airports = try Self.fetch(in: context, by: \.code)
    planes = try Self.fetch(in: context, by: \.tailNumber)
  }

  private static func fetch<Model: PersistentModel>(
    in context: ModelContext,
    by code: KeyPath<Model, String>
  ) throws -> [String: Model] {
    let models = try context.fetch(FetchDescriptor<Model>())
    return Dictionary(models.map { ($0[keyPath: code], $0) }) { first, _ in first }
  }
}

extension TripRun {
  /// Works in a new context, with the airlines, airports and planes at hand.
  ///
  /// They are held while the work takes: each trip refers to some, and a context releases the objects that
  /// the program does not hold, to read them again for the next trip.
  func withContext<Result>(
    of container: ModelContainer,
    _ work: (ModelContext, ReferenceData) throws -> Result
  ) throws -> Result {
    let context = ModelContext(container)
    let reference = try ReferenceData(in: context)
    return try withExtendedLifetime(reference) { try work(context, reference) }
  }

  /// Saves the airlines, airports and planes the store lacks.
  func addReferenceData(to container: ModelContainer) throws -> PhaseReport {
    try withContext(of: container, addReferenceData)
  }

  private func addReferenceData(
    to context: ModelContext,
    knowing known: ReferenceData
  ) throws -> PhaseReport {
    var phase = try Phase("reference", total: 1, in: context, of: self)
    var count = 0
    for row in timetable.airlines where known.airlines[row.code] == nil {
      context.insert(Airline(code: row.code, name: row.name))
      count += 1
    }
    for row in timetable.airports where known.airports[row.code] == nil {
      context.insert(
        Airport(
          code: row.code,
          name: row.name,
          latitude: row.latitude,
          longitude: row.longitude,
          altitude: row.altitude
        )
      )
      count += 1
    }
    for row in timetable.planes where known.planes[row.tailNumber] == nil {
      context.insert(
        Plane(
          tailNumber: row.tailNumber,
          manufacturer: row.manufacturer,
          model: row.model,
          year: row.year,
          seats: row.seats
        )
      )
      count += 1
    }
    if count > 0 { try phase.save(count) }
    return try phase.finish()
  }
}
