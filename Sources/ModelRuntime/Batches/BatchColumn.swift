import Foundation
import RowFormat

/// Writes values of one type, which only the writer knows, into a column of rows.
@safe struct BatchValueWriter {
  private let encode: (UnsafeRawPointer, inout _RowEncoder, Int) throws -> Void
  private let type: ObjectIdentifier

  init<Value>(_ column: BatchColumn<Value>) {
    type = ObjectIdentifier(Value.self)
    let write = column.encode
    unsafe encode = { address, encoder, position in
      try write(unsafe address.assumingMemoryBound(to: Value.self).pointee, &encoder, position)
    }
  }

  /// Writes a value of the type that the writer was made for.
  func write<Value>(_ value: Value, to composer: RowComposer, at position: Int) throws {
    assert(ObjectIdentifier(Value.self) == type, "\(Value.self) for column \(position)")
    try unsafe withUnsafePointer(to: value) {
      try unsafe encode(UnsafeRawPointer($0), &composer.encoder, position)
    }
  }
}

/// Writes the values of one property into rows, one row after the other.
///
/// The encoding is determined once for the whole batch, which leaves one call per value.
struct BatchColumn<Value> {
  let property: ModelProperty
  /// The position among the columns of the batch.
  let position: Int
  fileprivate let encode: (Value, inout _RowEncoder, Int) throws -> Void

  /// - Parameters:
  ///   - keyPath: The property.
  ///   - position: Its position among those of the batch.
  ///   - descriptor: The class.
  ///   - connection: The store, which has the models that relationships lead to.
  /// - Throws: ``SwiftDataError/unsupportedKeyPath`` if the key path is no property with its own column.
  init(
    _ keyPath: AnyKeyPath,
    at position: Int,
    of descriptor: ModelDescriptor,
    in connection: StoreConnection
  ) throws {
    property = try BatchColumn.property(keyPath, of: descriptor)
    self.position = position
    encode = try BatchColumn.encoder(of: property, in: connection)
  }

  func write(_ value: Value, into encoder: inout _RowEncoder) throws {
    try encode(value, &encoder, position)
  }

  private static func property(
    _ keyPath: AnyKeyPath,
    of descriptor: ModelDescriptor
  ) throws -> ModelProperty {
    guard let property = descriptor.ownOrInheritedProperty(for: keyPath) else {
      throw SwiftDataError.unsupportedKeyPath.explained(
        "\(descriptor.words(for: keyPath)) is no stored property of \(descriptor.entityName): a batch writes stored properties",
        entity: descriptor.entityName
      )
    }
    if property.isDerived {
      throw SwiftDataError.unsupportedKeyPath.explained(
        "\(descriptor.entityName).\(property.name) is derived: the store computes it, and a batch cannot set it",
        entity: descriptor.entityName,
        property: property.name
      )
    }
    if property.isEphemeral {
      throw SwiftDataError.unsupportedKeyPath.explained(
        "\(descriptor.entityName).\(property.name) is ephemeral: it is not stored, and a batch cannot set it",
        entity: descriptor.entityName,
        property: property.name
      )
    }
    return property
  }

  private static func encoder(
    of property: ModelProperty,
    in connection: StoreConnection
  ) throws -> (Value, inout _RowEncoder, Int) throws -> Void {
    switch property.kind {
    case .attribute(let codec):
      if let type = columnType(Value.self), type._columnType == codec.columnType,
        !property.isTransformed
      {
        return columnEncoder(type)
      }
      return { value, encoder, position in codec.write(value, into: &encoder, position) }
    case .toOne:
      if let limits = property.inverse?.relationship,
        (limits.minimumModelCount ?? 0) > 0 || (limits.maximumModelCount ?? 0) > 0
      {
        throw SwiftDataError.unsupportedKeyPath.explained(
          "\(property.name): the number of models at its other end is limited, which a batch does not count; "
            + "set it on objects",
          property: property.name
        )
      }
      if property.isPaired, let inverse = property.inverse, property.sharesRows(with: inverse) {
        throw SwiftDataError.unsupportedKeyPath.explained(
          "\(property.name): both ends of this one-to-one are of one class, and a row of the batch may be either; set "
            + "it on objects",
          property: property.name
        )
      }
      return { value, encoder, position in
        guard let model = value as? any PersistentModel else { return }
        encoder.writer.set(position, reference: try connection.storedReference(of: model))
      }
    case .toMany:
      throw SwiftDataError.unsupportedKeyPath.explained(
        "\(property.name) is a list: set the other end of the relationship, or append to it on objects",
        property: property.name
      )
    }
  }

  private static func columnEncoder<Column: _ColumnValue>(
    _: Column.Type
  ) -> (Value, inout _RowEncoder, Int) throws -> Void {
    { value, encoder, position in
      // The same type under another name: the cast was made when the column was.
      unsafe unsafeBitCast(value, to: Column.self)._encode(into: &encoder, position)
    }
  }
}

extension ModelProperty {
  /// Whether one row may have this end of a relationship and the other one.
  fileprivate func sharesRows(with inverse: ModelProperty) -> Bool {
    guard let (one, other) = destination.flatMap({ one in inverse.destination.map { (one, $0) } })
    else { return false }
    let (first, second) = (ModelDescriptor.of(one), ModelDescriptor.of(other))
    return first.isKind(of: second) || second.isKind(of: first)
  }
}

extension StoreConnection {
  /// The row of a model that is in this store.
  ///
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for one that is not saved, was deleted, or is in another store.
  func storedReference(of model: any PersistentModel) throws -> RowReference {
    let state = model._$state
    // A model that was never in a context has a state that does not know it.
    let entityName = state.descriptor(of: model).entityName
    guard state.flags.isDisjoint(with: [.deleted, .vanished]) else {
      throw SwiftDataError.modelValidationFailure.explained(
        "a batch refers to a \(entityName) that was deleted",
        entity: entityName
      )
    }
    guard state.flags.contains(.stored), state.reference != .none else {
      throw SwiftDataError.modelValidationFailure.explained(
        "a batch refers to a \(entityName) that is not saved: save it first",
        entity: entityName
      )
    }
    guard state.connection === self else {
      throw SwiftDataError.relationshipAcrossStores(to: state.identifier)
    }
    return state.reference
  }
}
