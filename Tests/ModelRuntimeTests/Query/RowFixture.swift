import Foundation
import RowFormat

@testable import ModelRuntime

/// Models and, beside them, the rows a store would keep for them.
final class RowFixture {
  private(set) var models: [any PersistentModel] = []
  private var rows: [RowReference: [UInt8]] = [:]
  private var modelsByReference: [RowReference: any PersistentModel] = [:]
  private var referencesByState: [ObjectIdentifier: RowReference] = [:]
  private var referencesByIdentifier: [PersistentIdentifier: RowReference] = [:]
  private var tables: [ObjectIdentifier: UInt16] = [:]
  private var descriptors: [UInt16: ModelDescriptor] = [:]
  /// How often another row was looked at.
  private(set) var visits = 0

  init(_ models: [any PersistentModel]) throws {
    for model in models { add(model) }
    var encoder = _RowEncoder(references: self)
    for model in models {
      model._$state.adoptInitialRelationships(of: model)
      model._$state.encode(model, into: &encoder)
      rows[reference(to: model)] = try encoder.finishBytes()
    }
  }

  private func add(_ model: any PersistentModel) {
    let descriptor = ModelDescriptor.of(type(of: model))
    let id = ObjectIdentifier(descriptor)
    let table = tables[id] ?? UInt16(tables.count + 1)
    tables[id] = table
    descriptors[table] = descriptor
    models.append(model)
    let reference = RowReference(table: table, key: UInt64(models.count))
    modelsByReference[reference] = model
    referencesByState[ObjectIdentifier(model._$state)] = reference
    referencesByIdentifier[model.persistentModelID] = reference
  }

  func reference(to model: any PersistentModel) -> RowReference {
    referencesByState[ObjectIdentifier(model._$state)] ?? .none
  }

  /// Forgets a row, as if it had been deleted and references to it had not.
  func lose(_ model: any PersistentModel) { rows[reference(to: model)] = nil }

  /// The models of a class whose rows match, and how many rows were tested.
  func matches<T: PersistentModel>(_ expression: QueryExpression, of type: T.Type) throws -> [T] {
    var found: [T] = []
    var filters: [ObjectIdentifier: RowFilter] = [:]
    for case let model as T in models {
      let descriptor = ModelDescriptor.of(Swift.type(of: model))
      let filter =
        filters[ObjectIdentifier(descriptor)]
        ?? RowFilter(expression, descriptor: descriptor, resolver: self)
      filters[ObjectIdentifier(descriptor)] = filter
      let reference = reference(to: model)
      let bytes = rows[reference] ?? []
      if try filter.matches(bytes.span.bytes, reference) { found.append(model) }
    }
    return found
  }
}

extension RowFixture: RowResolver {
  func withRow(_ reference: RowReference, _ body: (RawSpan) throws -> Void) throws -> Bool {
    visits += 1
    guard let row = rows[reference] else { return false }
    try body(row.span.bytes)
    return true
  }

  func contains(_ reference: RowReference) throws -> Bool { rows[reference] != nil }

  func descriptor(of reference: RowReference) -> ModelDescriptor? { descriptors[reference.table] }

  func reference(of identifier: PersistentIdentifier) -> RowReference? {
    referencesByIdentifier[identifier]
  }

  func members(of owner: RowReference, _ property: ModelProperty) throws -> [RowReference] {
    guard let owner = modelsByReference[owner] else { return [] }
    return owner._$state.destinations(property).map { reference(to: $0) }
  }
}

extension RowFixture: ReferenceResolver {
  var derivesLists: Bool { true }
  var keepsNames: Bool { true }

  func reference(to state: _ModelState) throws -> RowReference {
    referencesByState[ObjectIdentifier(state)] ?? .none
  }

  func name(of reference: RowReference, in connection: StoreConnection?) -> RowReference? {
    reference
  }

  func nextRank() -> Int64 { 1 }
}
