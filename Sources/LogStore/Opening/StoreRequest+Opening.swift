import Foundation
import LogEngine
import ModelRuntime
import SchedulePoints

extension StoreRequest {
  /// Opens the engine, with the tables of the schema.
  func openEngine() throws -> StorageEngine {
    // A store that is only read never changes its tables, even if several processes write it.
    guard writers == .severalProcesses, allowsSave else {
      return try migration.run(try openEngine(as: engineOptions))
    }
    return try joinEngine()
  }

  private func openEngine(as options: EngineOptions) throws -> StorageEngine {
    SchedulePoint.beforeOpening.reach()
    return try StorageEngine.open(at: url.path, options: options, onEvent: observation.onEvent)
  }

  /// Opens the engine beside those of other processes.
  ///
  /// Tables are made and changed by a process that has the store alone meanwhile: the others wait for it.
  private func joinEngine() throws -> StorageEngine {
    var attempts = 0
    while true {
      do {
        let engine = try openEngine(as: engineOptions)
        do {
          if try migration.isDone(in: engine.catalogue) { return engine }
        } catch {
          try? engine.close()
          throw error
        }
        try engine.close()
        try migrateAlone()
      } catch StorageError.locked(let path, let holder) {
        // Another process that migrates, or begins to, or ends.
        attempts += 1
        guard attempts < Self.attemptLimit else {
          throw StorageError.locked(path: path, holder: holder)
        }
        PosixFileSystem().pause(microseconds: Self.pause)
      }
    }
  }

  private func migrateAlone() throws {
    var options = engineOptions
    options.writers = .oneProcess
    let engine = try openEngine(as: options)
    try migration.run(engine).close()
  }

  /// Number of pauses before a process that waits for another's exclusive use gives up: at least three seconds in all.
  private static let attemptLimit = 300
  private static let pause = 10_000
}

extension StoreMigration {
  /// Whether a store of a catalogue is in the schema.
  ///
  /// - Throws: ``SwiftDataError`` or ``LogStoreError`` if it cannot be brought to it.
  func isDone(in catalogue: Catalogue) throws -> Bool {
    let route = try route(from: catalogue)
    if route.runsStages { return false }
    if case .stages = route.way { return false }
    return try CatalogueMapping.isThere(schema, as: route.target, in: catalogue)
      && InverseRecords(schema, catalogue).isCurrent
      && DerivedRecords(schema, catalogue, areValid: DerivedRecords.areValid(in: catalogue))
        .isCurrent
  }
}
