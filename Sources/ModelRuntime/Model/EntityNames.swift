import Synchronization

/// Model classes by entity name, for the one place that has only a name: decoding a snapshot.
///
/// Two classes may share a name (`SchemaV1.Trip`, `SchemaV2.Trip`). While a connection calls its
/// store, its own schema decides; elsewhere the container that was made last.
enum EntityNames {
  @TaskLocal private static var current: [String: ModelDescriptor]?
  private static let latest = Mutex<[String: ModelDescriptor]>([:])

  static func register(_ descriptors: [ModelDescriptor]) {
    latest.withLock { latest in
      for descriptor in descriptors { latest[descriptor.entityName] = descriptor }
    }
  }

  static func descriptor(named name: String) -> ModelDescriptor? {
    current?[name] ?? latest.withLock { $0[name] }
  }

  static func withCurrent<R>(
    _ descriptors: [String: ModelDescriptor],
    _ body: () throws -> R
  ) rethrows -> R {
    try $current.withValue(descriptors, operation: body)
  }
}
