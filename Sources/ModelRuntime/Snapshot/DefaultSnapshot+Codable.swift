import Foundation
import RowFormat

/// A snapshot in an archive: the identifier and each property under its name. A to-one relationship is
/// an identifier, a to-many one an array of them, nil is written out.
///
/// An archive of an earlier version of the class is read as one of the current: a property is looked for under its
/// original name, too, and one that is missing has its default value.
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
    let references = ReferenceList()
    var encoder = _RowEncoder(references: references)
    encoder.begin(descriptor.layout)
    for property in descriptor.properties {
      let key = container.key(of: property)
      switch property.kind {
      case .attribute(let codec):
        if container.contains(key) {
          try codec.unarchive(from: container, forKey: key, into: &encoder, property.ordinal)
        } else if let value = property.defaultValue {
          codec.write(value, into: &encoder, property.ordinal)
        }
      case .toOne:
        if let identifier = try container.decodeIfPresent(PersistentIdentifier.self, forKey: key) {
          encoder.writer.set(property.ordinal, reference: references.number(identifier))
        }
      case .toMany:
        let identifiers = try container.decodeIfPresent([PersistentIdentifier].self, forKey: key)
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

extension KeyedDecodingContainer<DataStoreSnapshotCodingKey> {
  /// The key of a property: its name, or the name it had, if only that is there.
  fileprivate func key(of property: ModelProperty) -> DataStoreSnapshotCodingKey {
    let key = DataStoreSnapshotCodingKey.modeledProperty(property.name)
    guard !contains(key), let originalName = property.originalName else { return key }
    let former = DataStoreSnapshotCodingKey.modeledProperty(originalName)
    return contains(former) ? former : key
  }
}
