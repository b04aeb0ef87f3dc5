import Foundation
import LogEngine
package import ModelRuntime

extension StoreRequest {
  /// Decides whether the store could be opened, and leaves it as it is.
  ///
  /// A store that one process writes is locked from then on. One that several write is locked so that they can save until it is
  /// opened, but not change its tables; if its tables have to be changed, so that they cannot use it.
  ///
  /// - Returns: The hold on the store.
  /// - Throws: The error of an opening that is refused.
  /// - Complexity: That of opening the store.
  func rehearse() throws -> any RehearsedOpening {
    guard allowsSave else {
      try perform { try migration.rehearse(readCatalogue()) }
      return NoHold()
    }
    guard sharesOpenStore else {
      try perform { try examine { _ in } }
      return NoHold()
    }
    let hold = try SharedStores.all.hold(StorePlace(url))
    do {
      if let tables = hold.tables {
        _ = try tables.serves(self)
      } else {
        try perform { try examine(hold.keep) }
      }
      return hold
    } catch {
      hold.end()
      throw error
    }
  }

  private func examine(_ keep: (any FileLock) -> Void) throws {
    guard try StorageEngine.isStore(at: url.path) else {
      // It is there to be made.
      try StoreLocation.checkParents(of: url)
      _ = try migration.route(from: Catalogue())
      return
    }
    if writers == .oneProcess {
      keep(try StorageEngine.hold(at: url.path))
      return try migration.rehearse(readCatalogue())
    }
    // Locked before it is read, so that no other process changes the tables in between.
    let lock = try holdBesideOthers(.shared)
    let catalogue = try readCatalogue()
    try migration.rehearse(catalogue)
    if try migration.presence(in: catalogue) != .partial { return keep(lock) }
    lock.release()
    keep(SoleHold(try holdBesideOthers(.exclusive)))
    try migration.rehearse(readCatalogue())
  }

  private func holdBesideOthers(_ kind: LockKind) throws -> any LockableFile {
    for _ in 1..<Self.attemptLimit {
      do {
        return try StorageEngine.hold(at: url.path, kind)
      } catch StorageError.locked {
        PosixFileSystem().pause(microseconds: Self.pause)
      }
    }
    return try StorageEngine.hold(at: url.path, kind)
  }

  private func readCatalogue() throws -> Catalogue {
    var options = EngineOptions()
    options.mode = .readOnly
    let engine = try StorageEngine.open(at: url.path, options: options)
    defer { try? engine.close() }
    return engine.catalogue
  }

  private func perform(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as StorageError {
      throw LogStoreError.storage(error, while: .opening, path: url.path)
    }
  }
}

/// The lock of a store that several processes write, which this one has alone, to change its tables.
final class SoleHold: FileLock {
  private let lock: any LockableFile

  init(_ lock: any LockableFile) { self.lock = lock }

  deinit { lock.close() }

  var isInPlace: Bool { lock.isInPlace }

  func release() { lock.release() }
}

/// The hold on a store that anybody else may open, too.
private struct NoHold: RehearsedOpening {
  func end() {}
}

extension LogStore: RehearsingStore {
  package static func rehearse(
    _ configuration: LogStoreConfiguration,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws -> any RehearsedOpening {
    _ = try configuration.expirationRules()
    return try StoreRequest(configuration, migrationPlan).rehearse()
  }
}

extension DefaultStore: RehearsingStore {
  package static func rehearse(
    _ configuration: ModelConfiguration,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws -> any RehearsedOpening {
    if configuration.isStoredInMemoryOnly { return NoHold() }
    let request = StoreRequest(configuration, migrationPlan)
    guard let place = DefaultPlace(configuration), place.isFormer(request) else {
      return try request.rehearse()
    }
    return try StoreRequest(configuration.moved(to: place.former), migrationPlan).rehearse()
  }
}
