import Foundation
import RowFormat

/// A model that gets back what it had.
final class Restoration {
  let fate: ReversalPlan.ModelFate
  /// The row that it had; also the row it has, unless that was deleted.
  let row: RowReference
  /// The object; a new one if the row was deleted.
  let model: any PersistentModel
  let isNew: Bool
  /// What attributes are to be.
  var values: [(property: ModelProperty, value: Any?)] = []
  /// Where to-one relationships are to lead, and what lists are to hold that are stored with their owner.
  var ends: [(property: ModelProperty, rows: [RowReference])] = []
  /// What was done to such lists that others have changed since.
  var listChanges: [(property: ModelProperty, changes: [ListReversal])] = []
  /// Rows with former values of columns that belong to unique keys, by column.
  var keyParts: [Int: FetchedRow] = [:]
  /// Whether the model cannot come back after all.
  var isWithdrawn = false

  init(
    _ fate: ReversalPlan.ModelFate,
    _ row: RowReference,
    _ model: any PersistentModel,
    isNew: Bool
  ) {
    self.fate = fate
    self.row = row
    self.model = model
    self.isNew = isNew
  }

  /// Whether nothing is to be changed.
  var isEmpty: Bool { values.isEmpty && ends.isEmpty && listChanges.isEmpty }

  /// Whether one of some columns gets another value.
  func changes(anyOf columns: [Int]) -> Bool { columns.contains { keyParts[$0] != nil } }

  /// Leaves some properties as they are.
  func keep(_ columns: [Int]) {
    values.removeAll { columns.contains($0.property.ordinal) }
    ends.removeAll { columns.contains($0.property.ordinal) }
    for column in columns { keyParts[column] = nil }
  }
}

/// What some transactions in a row did to a list.
struct ListReversal {
  var before: [RowReference] = []
  var after: [RowReference] = []
}

extension ModelDescriptor {
  /// Makes an object of the class that is in no context, and has no value but initial ones.
  func makeUnsaved() -> any PersistentModel {
    func make<M: PersistentModel>(_: M.Type) -> any PersistentModel {
      let model = M(backingData: _EmptyBackingData<M>())
      return model
    }
    let type: any PersistentModel.Type = self.type
    return make(type)
  }
}
