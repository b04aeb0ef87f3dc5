public import Foundation
public import ModelRuntime

/// The simplest honest store: an archive of snapshots in one JSON file, read and written whole.
///
/// Made to be read first, and to measure others by. Every fetch reads the file and every save writes it,
/// through a temporary file that replaces it, so a save that is cut off loses nothing. Filtering and
/// sorting are left to the context.
///
/// Several containers of a process may open one file, and lose no save of each other; several processes may not.
public final class JSONStore: DataStore {
  /// The type that opens this store.
  public typealias Configuration = JSONStoreConfiguration
  /// The form in which models come and go: their values by name.
  public typealias Snapshot = DefaultSnapshot

  /// The configuration that the store was opened with.
  public let configuration: JSONStoreConfiguration
  public let identifier: String
  /// The models that the store keeps; an empty schema if the configuration names none.
  public let schema: Schema
  /// Two contexts may call at once, of two containers even; one of them waits.
  private let gate: ArchiveGate

  public init(
    _ configuration: JSONStoreConfiguration,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws {
    self.configuration = configuration
    // The file's name, so that identifiers mean the same rows the next time it is opened.
    identifier = configuration.url.lastPathComponent
    schema = configuration.schema ?? Schema()
    gate = .of(configuration.url)
  }

  public func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> where T: PersistentModel {
    if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
    if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
    let names = entityNames(of: Schema.entityName(for: T.self))
    let snapshots = try gate.pass { try read() }
      .filter { names.contains($0.persistentIdentifier.entityName) }
    let rest = snapshots.dropFirst(request.descriptor.fetchOffset ?? 0)
    return DataStoreFetchResult(
      descriptor: request.descriptor,
      fetchedSnapshots: Array(request.descriptor.fetchLimit.map { rest.prefix($0) } ?? rest)
    )
  }

  /// The names of an entity and of all that inherit from it: a fetch of trips finds every kind of trip.
  private func entityNames(of entity: String) -> Set<String> {
    var names: Set = [entity]
    var rest = schema.entitiesByName[entity].map { Array($0.subentities) } ?? []
    while let next = rest.popLast() {
      names.insert(next.name)
      rest += next.subentities
    }
    return names
  }

  public func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    try gate.pass {
      // Every inserted model gets its identifier before any snapshot is rewritten: they may refer to
      // each other.
      var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
      for snapshot in request.inserted {
        remapped[snapshot.persistentIdentifier] = try .identifier(
          for: identifier,
          entityName: snapshot.persistentIdentifier.entityName,
          primaryKey: UUID().uuidString
        )
      }
      var archive = try read()
      var positions = Dictionary(
        uniqueKeysWithValues: archive.enumerated().map { ($1.persistentIdentifier, $0) }
      )
      for snapshot in request.inserted {
        let permanent = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
        positions[permanent] = archive.count
        archive.append(
          snapshot.copy(persistentIdentifier: permanent, remappedIdentifiers: remapped)
        )
      }
      for snapshot in request.updated {
        let own = snapshot.persistentIdentifier
        guard let position = positions[own] else {
          throw SwiftDataError.modelValidationFailure.explained(
            "\(own) was deleted by another context",
            entity: own.entityName
          )
        }
        archive[position] = snapshot.copy(persistentIdentifier: own, remappedIdentifiers: remapped)
      }
      let deleted = Set(request.deleted.map(\.persistentIdentifier))
      if !deleted.isEmpty { archive.removeAll { deleted.contains($0.persistentIdentifier) } }
      try write(archive)
      return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
    }
  }

  public func erase() throws {
    try gate.pass {
      guard FileManager.default.fileExists(atPath: configuration.url.path) else { return }
      try FileManager.default.removeItem(at: configuration.url)
    }
  }

  private func read() throws -> [DefaultSnapshot] {
    var isFolder: ObjCBool = false
    guard
      FileManager.default.fileExists(atPath: configuration.url.path, isDirectory: &isFolder)
    else { return [] }
    if isFolder.boolValue {
      throw JSONStoreError.notAnArchive(
        path: configuration.url.path,
        reason: "found a folder: give the store the URL of a file"
      )
    }
    do {
      let data = try Data(contentsOf: configuration.url)
      let decoder = JSONDecoder()
      decoder.nonConformingFloatDecodingStrategy = .convertFromString(
        positiveInfinity: NonFinite.infinity,
        negativeInfinity: NonFinite.negativeInfinity,
        nan: NonFinite.nan
      )
      let archive = try decoder.decode([DefaultSnapshot].self, from: data)
      var known: Set<PersistentIdentifier> = []
      for snapshot in archive where !known.insert(snapshot.persistentIdentifier).inserted {
        throw JSONStoreError.notAnArchive(
          path: configuration.url.path,
          reason: "found \(snapshot.persistentIdentifier) twice"
        )
      }
      return archive
    } catch let error as DecodingError {
      throw JSONStoreError.notAnArchive(path: configuration.url.path, reason: "\(error)")
    }
  }

  private func write(_ archive: [DefaultSnapshot]) throws {
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: NonFinite.infinity,
      negativeInfinity: NonFinite.negativeInfinity,
      nan: NonFinite.nan
    )
    try encoder.encode(archive).write(to: configuration.url, options: .atomic)
  }

  /// The spellings in the file of numbers that JSON has not.
  private enum NonFinite {
    static let infinity = "+infinity"
    static let negativeInfinity = "-infinity"
    static let nan = "nan"
  }
}

/// An error of a ``JSONStore``, other than those of the file system.
public enum JSONStoreError: LocalizedError, Sendable, CustomStringConvertible {
  /// The file is not an archive of the schema's models.
  case notAnArchive(path: String, reason: String)

  public var description: String {
    switch self {
    case .notAnArchive(let path, let reason):
      "\(path) is not an archive of this app's models: expected a JSON array of snapshots; \(reason)"
    }
  }

  public var errorDescription: String? { description }
}
