import Foundation
import LogEngine
import ModelRuntime
import SchedulePoints

extension StoreRequest {
  /// Opens the engine, with the tables of the schema.
  func openEngine() throws -> StorageEngine {
    // A store that is only read never changes its tables, even if several processes write it.
    guard writers == .severalProcesses, allowsSave else {
      return try migration.run(try openEngine(as: engineOptions, holding: lock))
    }
    if let alone = lock as? SoleHold {
      // The lock is kept until then: another process that took it might wait for a store that this thread holds.
      defer { alone.release() }
      try migrateAlone(holding: alone)
    } else {
      // Each of the attempts takes the lock in its own way.
      (lock as? any LockableFile)?.release()
    }
    return try joinEngine()
  }

  private func openEngine(
    as options: EngineOptions,
    holding lock: (any FileLock)? = nil
  ) throws -> StorageEngine {
    SchedulePoint.beforeOpening.reach()
    return try StorageEngine.open(
      at: url.path,
      options: options,
      onEvent: observation.onEvent,
      holding: lock
    )
  }

  /// Opens the engine beside those of other processes.
  ///
  /// Tables are made and changed by a process that has the store alone meanwhile: the others wait for it. Which shape the
  /// store was written with is recorded by a process that happens to be alone: of one number, several may be in use.
  private func joinEngine() throws -> StorageEngine {
    var attempts = 0
    var hasTriedToRecord = false
    while true {
      do {
        let engine = try openEngine(as: engineOptions)
        do {
          switch try migration.presence(in: engine.catalogue) {
          case .complete: return engine
          case .unrecorded where hasTriedToRecord: return engine
          case .unrecorded: hasTriedToRecord = true
          case .partial: break
          }
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

  private func migrateAlone(holding lock: SoleHold? = nil) throws {
    var options = engineOptions
    options.writers = .oneProcess
    let engine = try openEngine(as: options, holding: lock)
    try migration.run(engine).close()
  }

  /// Number of pauses before a process that waits for another's exclusive use gives up: at least three seconds in all.
  static let attemptLimit = 300
  static let pause = 10_000
}

extension StoreMigration {
  /// How much of the schema a store of a catalogue has.
  ///
  /// - Throws: ``SwiftDataError`` or ``LogStoreError`` if it cannot be brought to it.
  func presence(in catalogue: Catalogue) throws -> CatalogueMapping.Presence {
    let route = try route(from: catalogue)
    if route.runsStages { return .partial }
    let presence = try CatalogueMapping.presence(
      of: schema,
      as: route.target,
      age(in: catalogue, route),
      in: catalogue
    )
    let areValid = DerivedRecords.areValid(in: catalogue)
    let areCurrent =
      InverseRecords(schema, catalogue).isCurrent
      && DerivedRecords(schema, catalogue, areValid: areValid).isCurrent
    return areCurrent ? presence : .partial
  }
}
