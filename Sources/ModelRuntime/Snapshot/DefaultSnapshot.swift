package import RowFormat

/// The snapshot a store receives unless it has its own type: the model's row, and the models it refers to.
///
/// References in the row are numbers of the list beside it, so the snapshot means the same in every
/// store and every process.
public struct DefaultSnapshot: DataStoreSnapshot {
  public let persistentIdentifier: PersistentIdentifier
  package let descriptor: ModelDescriptor
  package let row: [UInt8]
  /// The models that the row refers to; reference *n* in the row is element *n* − 1.
  package let references: [PersistentIdentifier]

  package init(
    persistentIdentifier: PersistentIdentifier,
    descriptor: ModelDescriptor,
    row: [UInt8],
    references: [PersistentIdentifier]
  ) {
    self.persistentIdentifier = persistentIdentifier
    self.descriptor = descriptor
    self.row = row
    self.references = references
  }

  public init(
    from backingData: any BackingData,
    relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
  ) {
    guard let live = backingData as? any ModelBackedData else {
      preconditionFailure(
        "a snapshot is taken of a model's persistentBackingData, not of \(type(of: backingData))"
      )
    }
    do {
      self = try SnapshotEncoder.snapshot(of: live.anyModel)
    } catch {
      // The protocol's initializer cannot throw. The context, which can, checks each model before
      // this, so only a store that takes its own snapshots of models gets here.
      preconditionFailure("\(live.anyModel.persistentModelID): \(error)")
    }
  }

  public func copy(
    persistentIdentifier: PersistentIdentifier,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]? = [:]
  ) -> DefaultSnapshot {
    DefaultSnapshot(
      persistentIdentifier: persistentIdentifier,
      descriptor: descriptor,
      row: row,
      references: references.map { remappedIdentifiers?[$0] ?? $0 }
    )
  }

  /// Marks a reference in a row as the number of a model in a list.
  package static func reference(number: Int) -> RowReference {
    RowReference(table: 0x8000, key: UInt64(number))
  }

  /// The model of a reference in the row, or `nil` if the row is invalid.
  package func identifier(for reference: RowReference) -> PersistentIdentifier? {
    guard reference.isProvisional, 1...max(references.count, 1) ~= Int(reference.key),
      !references.isEmpty
    else { return nil }
    return references[Int(reference.key) - 1]
  }

  func withRow<R>(_ body: (_RowView) throws -> R) rethrows -> R {
    try unsafe row.withUnsafeBytes {
      try unsafe body(
        _RowView(base: $0.baseAddress, byteCount: $0.count, layout: descriptor.layout)
      )
    }
  }
}
