import RowFormat

/// The models a snapshot refers to, numbered in the order of their first use.
final class ReferenceList: ReferenceResolver {
  private(set) var identifiers: [PersistentIdentifier] = []
  private var numbers: [PersistentIdentifier: Int] = [:]
  private var lastRank: Int64 = 0
  /// The store that must keep the models; `nil` if any may.
  private let connection: StoreConnection?

  init(in connection: StoreConnection? = nil) { self.connection = connection }

  var derivesLists: Bool { false }
  var keepsNames: Bool { false }

  func number(_ identifier: PersistentIdentifier) -> RowReference {
    if let known = numbers[identifier] { return DefaultSnapshot.reference(number: known) }
    identifiers.append(identifier)
    numbers[identifier] = identifiers.count
    return DefaultSnapshot.reference(number: identifiers.count)
  }

  func reference(to state: _ModelState) throws -> RowReference {
    if let connection, let own = state.owner, own !== connection {
      throw SwiftDataError.relationshipAcrossStores(to: state.identifier)
    }
    return number(state.identifier)
  }

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
  /// Takes a snapshot of a model's current values.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - connection: The store that is to save it, and thus all its references; `nil` if it is not to be saved.
  /// - Returns: The snapshot.
  /// - Throws: An error of encoding one of its attributes, or of a relationship to a model of another store.
  static func snapshot(
    of model: any PersistentModel,
    savedTo connection: StoreConnection? = nil
  ) throws -> DefaultSnapshot {
    let state = model._$state
    state.prepareForEncoding(model)
    let references = ReferenceList(in: connection)
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
  /// The store that has the model, or will after its save; `nil` for a model that has left its context.
  fileprivate var owner: StoreConnection? {
    connection ?? context?.store(of: self)
  }

  /// Loads everything that a row is made of.
  func prepareForEncoding(_ model: any PersistentModel) {
    adoptInitialRelationships(of: model)
    loadRow()
  }

  /// Starts the model's row and writes its columns; the caller finishes it.
  func encode(_ model: any PersistentModel, into encoder: inout _RowEncoder) {
    // An attribute's code may fetch, and the fetch may give the model another row while this one is being copied.
    let arena = self.arena
    defer { withExtendedLifetime(arena) {} }
    encoder.begin(descriptor(of: model).layout)
    encoder.previous = currentRow
    encoder.state = self
    model._$encode(into: &encoder)
    encoder.state = nil
  }
}
