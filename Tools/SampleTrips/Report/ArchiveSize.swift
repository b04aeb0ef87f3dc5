import Foundation
import SwiftData

/// The size of a JSON archive of the trips, for comparison: it rewrites all of itself at each save.
///
/// Measured, not guessed: two small archives are written, one with the reference data alone and one
/// with the first trips of the timetable; the difference is what a trip costs.
struct ArchiveSize {
  /// The bytes of an archive that holds no trip.
  let referenceBytes: Int
  let bytesPerTrip: Int
  /// Number of trips in the measured archive.
  let sampleCount: Int

  /// Writes two archives in a temporary place.
  init(measuredWith timetable: Timetable) throws {
    let sample = timetable.prefix(1000)
    let empty = try Self.fileSize(of: timetable.prefix(0))
    let filled = try Self.fileSize(of: sample)
    self.init(
      referenceBytes: empty,
      bytesPerTrip: (filled - empty) / max(sample.flights.count, 1),
      sampleCount: sample.flights.count
    )
  }

  init(referenceBytes: Int, bytesPerTrip: Int, sampleCount: Int) {
    self.referenceBytes = referenceBytes
    self.bytesPerTrip = bytesPerTrip
    self.sampleCount = sampleCount
  }

  /// The bytes an archive would have written in a phase.
  func bytes(rewrittenBy phase: PhaseReport) -> Int {
    referenceBytes * phase.saves + bytesPerTrip * phase.tripsHeld
  }

  private static func fileSize(of timetable: Timetable) throws -> Int {
    let place = try StorePlace(kind: .json, path: nil)
    defer { place.removeIfTemporary() }
    let run = TripRun(
      timetable,
      in: StoreSetup(kind: .json, place: place),
      batch: max(timetable.flights.count, 1),
      showsProgress: false
    )
    let container = try run.setup.makeContainer()
    _ = try run.addReferenceData(to: container)
    _ = try run.importTrips(Array(timetable.flights.indices), into: container)
    return try place.fileSize()
  }
}
