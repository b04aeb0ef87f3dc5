import RowFormat

/// Finds clashes by comparing the models to save with everything that is stored: for stores without an index.
struct UniquenessCheck {
  private(set) var clashes: [ModelClash] = []
  private let constraints: [UniquenessConstraint]
  private let changes: ChangeSet
  private let deleted: Set<RowReference>

  init(_ constraints: [UniquenessConstraint], _ changes: ChangeSet) {
    self.constraints = constraints
    self.changes = changes
    deleted = constraints.isEmpty ? [] : Set(changes.deleted.map { $0._$state.reference })
  }

  /// The constraints that the changes could break.
  var neededConstraints: [UniquenessConstraint] {
    constraints.filter { constraint in
      changes.inserted.contains { constraint.covers($0._$state.descriptor) }
        || changes.updated.contains { $0._$state.isTouched(by: constraint) }
    }
  }

  /// Finds models that share a key.
  ///
  /// - Parameters:
  ///   - constraint: The properties that must be unique.
  ///   - stored: The rows of all models it covers.
  ///   - layout: The layout of a stored row.
  ///   - row: Makes the row that a model will have.
  /// - Throws: An error of `row`.
  mutating func enter(
    _ constraint: UniquenessConstraint,
    stored: [FetchedRow],
    layout: (RowReference) -> RowLayout?,
    row: (any PersistentModel) throws -> FetchedRow
  ) throws {
    var holders: [[UInt8]: ModelClash.Holder] = [:]
    let touched = changes.updated.filter { $0._$state.isTouched(by: constraint) }
    let gone = deleted.union(touched.map { $0._$state.reference })
    for row in stored where !gone.contains(row.reference) {
      // Columns are at other offsets in a subclass's row.
      if let layout = layout(row.reference), let key = key(of: row, layout, constraint) {
        holders[key] = .row(row.reference)
      }
    }
    let inserted = changes.inserted.filter { constraint.covers($0._$state.descriptor) }
    for model in touched + inserted {
      let layout = model._$state.descriptor.layout
      guard let key = key(of: try row(model), layout, constraint) else { continue }
      if let holder = holders[key] {
        clashes.append(ModelClash(model: model, holder: holder, constraint: constraint))
      } else {
        holders[key] = .model(model)
      }
    }
  }

  /// The key of a row, or `nil` if it has a null in it.
  private func key(
    of row: FetchedRow,
    _ layout: RowLayout,
    _ constraint: UniquenessConstraint
  ) -> [UInt8]? {
    var key: [UInt8] = []
    let isComplete = row.withBytes {
      ColumnKey.append(constraint.columns, of: $0, layout, to: &key)
    }
    return isComplete ? key : nil
  }
}

extension _ModelState {
  /// Whether the object changed in a way that can break a constraint.
  fileprivate func isTouched(by constraint: UniquenessConstraint) -> Bool {
    constraint.covers(descriptor) && constraint.isTouched(by: changed.marks)
  }
}
