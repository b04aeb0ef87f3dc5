public import LogEngine

/// An error of a ``LogStore``: the failure, and the store's activity at the time.
public enum LogStoreError: Error, Sendable {
  /// The store's activity when the engine failed.
  public enum Activity: String, Sendable {
    /// Opening the store.
    case opening
    /// Writing the changes of a context.
    case saving
    /// Reading models, counts or history.
    case fetching
    /// Closing the store.
    case closing
    /// Removing everything from the store.
    case erasing
    /// Packing old rows, to reclaim space.
    case compacting
    /// Adding up what the store takes on its device.
    case measuring
    /// Bringing the store to a new version of its models.
    case migrating
    /// Checking the store's files.
    case verifying
    /// Copying the store.
    case backingUp = "backing up"
    /// Deleting rows that have expired.
    case expiring
  }

  /// The engine could not read or write.
  case storage(StorageError, while: Activity, path: String)
  /// The store's folder cannot be used.
  case location(String, reason: String)
  /// A property's type is not the one its values were written with.
  case propertyTypeChanged(entity: String, property: String, stored: String, declared: String)
  /// The membership of a list used to be stored on the other side: at the owner, or at the members.
  case listKeptElsewhere(entity: String, property: String, stored: String, declared: String)
  /// A property of a new version must have a value, and a row has none: neither from before, nor by default, nor
  /// from a custom stage.
  case missingValue(entity: String, property: String, key: UInt64)
  /// Values must differ in a new version, and those of two rows do not.
  case duplicateValues(entity: String, properties: [String], keys: [UInt64])
  /// A rule of ``LogStoreConfiguration/expirations`` cannot be followed; its property is `nil` if it is not a stored one.
  case expiration(entity: String, property: String?, reason: String)
  /// The store lacks what a read-only opening cannot add, or another process has brought it to other models since.
  case schemaNotInStore(entity: String, path: String)
  /// The file is open in this process, and saves promise less there than is asked for here.
  case weakerDurability(
    path: String,
    open: LogStoreConfiguration.Durability,
    asked: LogStoreConfiguration.Durability
  )
  /// A store in memory is shared with another container that opened it with other models.
  case schemaNotShared(name: String)
  /// A row refers to a table the schema does not know, or has a layout that is not recorded.
  case unreadableRow(entity: String, key: UInt64)
  /// A value of a row is in a file of its own that is missing or damaged; the rest of the row can be
  /// read.
  case unreadableValue(entity: String, property: String, key: UInt64, StorageError)
}

extension LogStoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .storage(let error, let activity, let path): "\(activity.rawValue) \(path): \(error)"
    case .location(let path, let reason): "\(path) cannot hold a store: \(reason)"
    case .propertyTypeChanged(let entity, let property, let stored, let declared):
      "\(entity).\(property): the store holds \(stored) values, the model declares \(declared); "
        + "give the property a new name, or its old type; or migrate with a custom stage, which reads the "
        + "old values in willMigrate and sets the new ones in didMigrate"
    case .listKeptElsewhere(let entity, let property, let stored, let declared):
      "\(entity).\(property): the store keeps the list \(stored), the model \(declared); give the list a new "
        + "name, or its old inverse; or migrate with a custom stage, which reads the members in willMigrate and sets "
        + "them again in didMigrate"
    case .missingValue(let entity, let property, let key):
      "\(entity)/\(key) has no value for \(property), which is not optional and has no default: declare a "
        + "default, or make the stage a custom one that sets \(property) in didMigrate"
    case .duplicateValues(let entity, let properties, let keys):
      "\(keys.map { "\(entity)/\($0)" }.joined(separator: " and ")) have the same "
        + "\(properties.joined(separator: ", ")), which must be unique from this version on: make the stage a "
        + "custom one, and remove the duplicates in willMigrate"
    case .expiration(let entity, let property, let reason):
      "the expiration of \(entity)\(property.map { " by \($0)" } ?? ""): \(reason)"
    case .schemaNotInStore(let entity, let path):
      "\(path) has no \(entity) as the schema describes it, and was opened read-only: open it once with "
        + "allowsSave: true, or with the models that wrote it last"
    case .weakerDurability(let path, let open, let asked):
      "\(path) is open in this process with durability \(open), which promises less than \(asked): ask for the "
        + "same, or close the other container first"
    case .schemaNotShared(let name):
      "the store in memory named \"\(name)\" is open with other models: give it another name, or both containers "
        + "the same schema"
    case .unreadableValue(let entity, let property, let key, let error):
      "\(entity)/\(key).\(property) cannot be read: \(error)"
    case .unreadableRow(let entity, let key):
      "\(entity)/\(key) cannot be read: its row is not in a layout the store has on record"
    }
  }
}
