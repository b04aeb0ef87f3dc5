import Foundation
import LogEngine
import ModelRuntime

extension StoreLease {
  /// Opens a store on disk, or joins its other users; a read-only store is not shared.
  ///
  /// - Throws: ``LogStoreError`` if it cannot be opened, among others because another process has it;
  ///   ``SwiftDataError`` if its models and these do not go together.
  static func open(_ request: StoreRequest) throws -> StoreLease {
    guard request.allowsSave, request.sharesOpenStore else {
      return StoreLease(try TableStore(request))
    }
    return try SharedStores.all.lease(of: StorePlace(request.url)) { open in
      try open.serves(request)
    } orOpen: { lock in
      var request = request
      request.lock = lock
      return try TableStore(request)
    }
  }

  /// Opens a store in memory: one of its own without a name, otherwise the one that is there, or a new one.
  ///
  /// - Throws: ``LogStoreError/schemaNotShared(name:)`` if it is there for other models.
  static func openInMemory(
    _ configuration: ModelConfiguration,
    _ plan: (any SchemaMigrationPlan.Type)?
  ) throws -> StoreLease {
    let schema = configuration.schema ?? Schema()
    func make() throws -> TableStore {
      try TableStore(inMemoryFor: schema, migrationPlan: plan)
    }
    let name = configuration.url.path
    guard name != "/dev/null" else { return StoreLease(try make()) }
    return try SharedStores.all.lease(of: StorePlace(inMemory: name)) { open in
      guard open.keeps(schema) else {
        throw LogStoreError.schemaNotShared(name: configuration.name)
      }
      return true
    } orOpen: { _ in
      try make()
    }
  }
}

extension TableStore {
  /// Whether a request to open this very file needs no other store than this one.
  ///
  /// - Throws: ``SwiftDataError`` if the request must be refused: this store then stays open;
  ///   ``LogStoreError/weakerDurability(path:open:asked:)`` if saves promise less than is asked for.
  func serves(_ request: StoreRequest) throws -> Bool {
    let catalogue = engine.catalogue
    let route = try request.migration.route(from: catalogue)
    guard durability.promises(request.durability) else {
      throw LogStoreError.weakerDurability(path: path, open: durability, asked: request.durability)
    }
    if keeps(request.schema), !route.runsStages { return true }
    // Before this store is closed for it: a refused opening must not close a store that is in use.
    try request.migration.rehearse(catalogue)
    return false
  }

  /// Whether the store has the classes of a schema, and no others of their kind.
  func keeps(_ other: Schema) -> Bool {
    let asked = Set(other.modelTypes.map(ObjectIdentifier.init))
    let kept = Set(schema.modelTypes.map(ObjectIdentifier.init))
    guard asked.isSubset(of: kept) else { return false }
    // A fetch of a class finds rows of its subclasses, which the other container does not know.
    return schema.modelTypes.allSatisfy { type in
      asked.contains(ObjectIdentifier(type))
        || !other.modelTypes.contains {
          ModelDescriptor.of(type).isKind(of: ModelDescriptor.of($0))
        }
    }
  }
}
