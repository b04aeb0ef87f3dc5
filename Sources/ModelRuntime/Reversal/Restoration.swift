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
  /// What was done to such lists that others have changed, too.
  var listChanges: [(property: ModelProperty, changes: ListReversal)] = []
  /// To-one relationships that stay as they are, because something is in the way.
  var refusedEnds: [ModelProperty] = []
  /// Lists made of their members that get back the order they had behind a transaction.
  var orders: [(property: ModelProperty, transaction: Int64)] = []
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

/// What transactions did to a list, beside others: all of their runs taken together.
struct ListReversal {
  /// The members that they added.
  private(set) var came: Set<RowReference> = []
  private var left: Set<RowReference> = []
  private var leftInOrder: [RowReference] = []
  /// What the run that is being read found.
  private var before: [RowReference] = []

  /// The members that they took out, in the order in which they did.
  var went: [RowReference] {
    var rest = left
    return leftInOrder.filter { rest.remove($0) != nil }
  }

  /// Begins with what a run found.
  mutating func begin(_ members: [RowReference]) { before = members }

  /// Ends with what it left: what one run did and another took back is nothing.
  mutating func end(_ members: [RowReference]) {
    let (former, present) = (Set(before), Set(members))
    for member in members where !former.contains(member) {
      if left.remove(member) == nil { came.insert(member) }
    }
    for member in before where !present.contains(member) && came.remove(member) == nil {
      left.insert(member)
      leftInOrder.append(member)
    }
    before = []
  }
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
