import ModelRuntime
import Synchronization

/// Open stores by name, for containers of one process that have a store together, as long as one of them lives.
struct SharedStores: ~Copyable {
  private let stores = Mutex<[String: Reference]>([:])

  private struct Reference {
    weak var store: TableStore?
  }

  /// The store of a name, if one is open.
  func store(named name: String) -> TableStore? {
    stores.withLock { Self.store(named: name, in: &$0) }
  }

  /// Takes note of a store that was opened.
  func insert(_ store: TableStore, named name: String) {
    stores.withLock { $0[name] = Reference(store: store) }
  }

  /// The store of a name, which is made if none is open; others wait meanwhile.
  func store(named name: String, orMake make: () throws -> TableStore) throws -> TableStore {
    try stores.withLock { stores in
      if let known = Self.store(named: name, in: &stores) { return known }
      let made = try make()
      stores[name] = Reference(store: made)
      return made
    }
  }

  private static func store(named name: String, in stores: inout [String: Reference]) -> TableStore?
  {
    guard let known = stores[name]?.store else {
      stores[name] = nil
      return nil
    }
    return known
  }
}

extension TableStore {
  /// Whether the store has exactly the classes of a schema.
  func keeps(_ other: Schema) -> Bool {
    Set(schema.modelTypes.map(ObjectIdentifier.init))
      == Set(other.modelTypes.map(ObjectIdentifier.init))
  }
}
