import RowFormat

/// The models a snapshot refers to, numbered as they come up.
final class ReferenceList: ReferenceResolver {
  private(set) var identifiers: [PersistentIdentifier] = []
  private var numbers: [PersistentIdentifier: Int] = [:]
  private var lastRank: Int64 = 0

  var derivesLists: Bool { false }

  func number(_ identifier: PersistentIdentifier) -> RowReference {
    if let known = numbers[identifier] { return DefaultSnapshot.reference(number: known) }
    identifiers.append(identifier)
    numbers[identifier] = identifiers.count
    return DefaultSnapshot.reference(number: identifiers.count)
  }

  func reference(to state: _ModelState) -> RowReference { number(state.identifier) }

  func name(of reference: RowReference, in connection: StoreConnection?) -> RowReference? {
    connection.flatMap { $0.identifier(of: reference) }.map(number)
  }

  func nextRank() -> Int64 {
    lastRank += 1
    return lastRank
  }
}

/// Takes snapshots of live models.
enum SnapshotEncoder {
  /// The values of a model as they are now.
  ///
  /// - Throws: What encoding one of its attributes throws.
  static func snapshot(of model: any PersistentModel) throws -> DefaultSnapshot {
    let state = model._$state
    state.prepareForEncoding(model)
    let references = ReferenceList()
    var encoder = _RowEncoder(references: references)
    state.encode(model, into: &encoder)
    return DefaultSnapshot(
      persistentIdentifier: state.identifier(of: type(of: model)),
      descriptor: state.descriptor(of: model),
      row: try encoder.finishBytes(),
      references: references.identifiers
    )
  }
}

extension _ModelState {
  /// Makes sure that everything a row is made of is at hand.
  func prepareForEncoding(_ model: any PersistentModel) {
    adoptInitialRelationships(of: model)
    loadRow()
  }

  /// Starts the model's row and writes its columns; the caller finishes it.
  func encode(_ model: any PersistentModel, into encoder: inout _RowEncoder) {
    // An attribute's code may fetch, and the fetch give the model another row while this one is being copied.
    let arena = self.arena
    defer { withExtendedLifetime(arena) {} }
    encoder.begin(descriptor(of: model).layout)
    encoder.previous = currentRow
    encoder.state = self
    model._$encode(into: &encoder)
    encoder.state = nil
  }
}
