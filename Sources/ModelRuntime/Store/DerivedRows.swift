package import RowFormat

/// Receives from a store the rows that a save has changed besides the given ones, because attributes of theirs are
/// derived from others.
///
/// Unchecked, because only the saving thread uses it.
package final class DerivedRows: @unchecked Sendable {
  /// The rows, each once.
  @safe @exclusivity(unchecked) package var updated: [RowReference] = []

  init() {}
}

/// A store of rows that computes derived attributes itself, for every writer of its rows.
///
/// Containers refuse to open any other store of rows for models that have derived attributes.
package protocol DerivingStore: RowStore {}

extension StoreConnection {
  /// Makes the object that records derived attributes during a save; `nil` if no class has any.
  func makeDerivedRows() -> DerivedRows? { isDeriving ? DerivedRows() : nil }

  /// Throws if the store does not compute derived attributes, and has models with some.
  func checkDerivations() throws {
    guard isDeriving, store.keepsRows, !(store.openStore is any DerivingStore),
      let model = descriptors.first(where: \.isDeriving),
      let property = model.properties.first(where: \.isDerived)
    else { return }
    throw SwiftDataError.invalidSchema.explained(
      "\(type(of: store.openStore)) \"\(configurationName)\" does not compute derived attributes, and "
        + "\(model.entityName).\(property.name) is one; a LogStore and a PostgresStore do",
      entity: model.entityName,
      property: property.name
    )
  }
}
