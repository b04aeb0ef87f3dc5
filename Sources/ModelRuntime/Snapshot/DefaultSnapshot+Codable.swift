import Foundation
import RowFormat

/// A snapshot in an archive: the identifier and each property under its name. A to-one relationship is
/// an identifier, a to-many one an array of them, nil is written out.
///
/// An archive of an earlier version of the class is read as one of the current: a property is also looked up by its
/// original name, and a missing one has its default value, as one that may no longer be nil has where it is. A store's own snapshots may omit nil: with
/// `CodingUserInfoKey.nilIsLeftOut`, a missing optional property is nil.
extension DefaultSnapshot {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
    try container.encode(persistentIdentifier, forKey: .persistentIdentifier)
    try withRow { row in
      for property in descriptor.properties {
        let key = DataStoreSnapshotCodingKey.modeledProperty(property.name)
        switch property.kind {
        case .attribute(let codec):
          try codec.archive(row, property.ordinal, into: &container, forKey: key)
        case .toOne:
          let identifier =
            row.isNull(property.ordinal)
            ? nil : identifier(for: row.layout.reference(property.ordinal, in: row.span))
          try container.encode(identifier, forKey: key)
        case .toMany:
          let identifiers =
            row.isNull(property.ordinal)
            ? [] : row.layout.references(property.ordinal, in: row.span)
          try container.encode(identifiers.compactMap(identifier(for:)), forKey: key)
        }
      }
    }
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
    let identifier = try container.decode(PersistentIdentifier.self, forKey: .persistentIdentifier)
    guard let descriptor = EntityNames.descriptor(named: identifier.entityName) else {
      throw DecodingError.dataCorruptedError(
        forKey: .persistentIdentifier,
        in: container,
        debugDescription:
          "no model class named \"\(identifier.entityName)\" is known: expected one of a container's schema"
      )
    }
    let keys = SnapshotKeys(
      of: descriptor,
      in: container,
      nilIsLeftOut: CodingUserInfoKey.nilIsLeftOut.flatMap { decoder.userInfo[$0] } as? Bool == true
    )
    let references = ReferenceList()
    var encoder = _RowEncoder(references: references)
    encoder.begin(descriptor.layout)
    for property in descriptor.properties {
      let key = keys.key(of: property)
      switch property.kind {
      case .attribute(let codec):
        if let key,
          try codec.unarchive(from: container, forKey: key, into: &encoder, property.ordinal)
        {
          continue
        }
        if let value = keys.value(of: property, isNil: key != nil) {
          codec.write(value, into: &encoder, property.ordinal)
        }
      case .toOne:
        let identifier = try key.flatMap {
          try container.decodeIfPresent(PersistentIdentifier.self, forKey: $0)
        }
        if let identifier {
          encoder.writer.set(property.ordinal, reference: references.number(identifier))
        }
      case .toMany:
        let identifiers = try key.flatMap {
          try container.decodeIfPresent([PersistentIdentifier].self, forKey: $0)
        }
        encoder.writer.append(
          property.ordinal,
          references: (identifiers ?? []).map { references.number($0) }
        )
      }
    }
    self.init(
      persistentIdentifier: identifier,
      descriptor: descriptor,
      row: try encoder.finishBytes(),
      references: references.identifiers
    )
  }
}

extension CodingUserInfoKey {
  /// Whether an archive omits properties that are nil, as compiler-generated coding does.
  static let nilIsLeftOut = CodingUserInfoKey(rawValue: "nilIsLeftOut")
}

/// The keys of a class's properties in an archive.
private struct SnapshotKeys {
  private let container: KeyedDecodingContainer<DataStoreSnapshotCodingKey>
  /// The names in the archive that belong to since-renamed properties.
  private var formerNames: Set<String> = []
  private let nilIsLeftOut: Bool

  init(
    of descriptor: ModelDescriptor,
    in container: KeyedDecodingContainer<DataStoreSnapshotCodingKey>,
    nilIsLeftOut: Bool
  ) {
    self.container = container
    self.nilIsLeftOut = nilIsLeftOut
    let renamed = descriptor.properties.filter { property in
      guard let former = property.originalName, container.contains(.modeledProperty(former)) else {
        return false
      }
      // A name that another property has by now belongs to that property, if the renamed one may be nil and omitted.
      return !nilIsLeftOut || !property.isOptional || descriptor.property(named: former) == nil
    }
    // A property that took over another's name has its own former name, in turn.
    var count = -1
    while count < formerNames.count {
      count = formerNames.count
      for property in renamed where !hasOwnName(property) {
        if let former = property.originalName { formerNames.insert(former) }
      }
    }
  }

  private func hasOwnName(_ property: ModelProperty) -> Bool {
    container.contains(.modeledProperty(property.name)) && !formerNames.contains(property.name)
  }

  /// The key of a property: its name, or its former name, if only that is there.
  ///
  /// - Returns: The key; `nil` if the archive does not have the property.
  func key(of property: ModelProperty) -> DataStoreSnapshotCodingKey? {
    if hasOwnName(property) { return .modeledProperty(property.name) }
    guard let former = property.originalName, formerNames.contains(former) else { return nil }
    return .modeledProperty(former)
  }

  /// The value of an attribute that is nil in the archive, or missing from it; `nil` for none.
  func value(of property: ModelProperty, isNil: Bool) -> Any? {
    property.isOptional && (isNil || nilIsLeftOut) ? nil : property.defaultValue
  }
}
