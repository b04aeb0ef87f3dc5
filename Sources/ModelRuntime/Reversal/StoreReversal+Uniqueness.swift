import RowFormat

extension StoreReversal {
  /// Whether a column belongs to a unique key of a class.
  func isKeyColumn(_ property: ModelProperty, of descriptor: ModelDescriptor) -> Bool {
    constraints.contains { $0.covers(descriptor) && $0.columns.contains(property.ordinal) }
  }

  /// Leaves models as they are whose former unique values others have now.
  ///
  /// A save would have a new model take the place of the one that has its values.
  func checkUniqueness() throws {
    if constraints.isEmpty { return }
    let going = Set(deletions.map { ObjectIdentifier($0) })
    let changing = Dictionary(
      restorations.lazy.filter { !$0.isNew }.map { (ObjectIdentifier($0.model), $0) },
      uniquingKeysWith: { first, _ in first }
    )
    for constraint in constraints {
      try check(constraint) { holder in
        going.contains(ObjectIdentifier(holder))
          || changing[ObjectIdentifier(holder)]?.changes(anyOf: constraint.columns) ?? false
      }
    }
  }

  /// - Parameters:
  ///   - constraint: What must be unique.
  ///   - givesUp: Whether a model loses its unique values in this same reversal.
  /// - Throws: What looking for the values throws.
  private func check(
    _ constraint: UniquenessConstraint,
    _ givesUp: (any PersistentModel) -> Bool
  ) throws {
    var keys = KeyList()
    var owners: [Restoration] = []
    for restoration in restorations
    where constraint.covers(restoration.fate.descriptor)
      && restoration.changes(anyOf: constraint.columns)
    {
      guard let number = restoration.appendKey(constraint.columns, to: &keys) else { continue }
      if number == owners.count {
        owners.append(restoration)
      } else {
        refuse(restoration, constraint, owners[number].fate.identifier)
      }
    }
    guard keys.count > 0, let holders = try connection.store.rows(having: keys, of: constraint)
    else { return }
    for (restoration, row) in zip(owners, holders) where row != .none {
      guard let holder = context.model(at: row, in: connection), holder !== restoration.model,
        !holder._$state.isGone, !givesUp(holder)
      else { continue }
      refuse(restoration, constraint, holder.persistentModelID)
    }
  }

  private func refuse(
    _ restoration: Restoration,
    _ constraint: UniquenessConstraint,
    _ holder: PersistentIdentifier
  ) {
    report(
      restoration.fate,
      constraint.properties.joined(separator: ", "),
      .valueTaken(by: holder)
    )
    if restoration.isNew {
      restoration.isWithdrawn = true
    } else {
      restoration.keep(constraint.columns)
    }
  }
}

extension Restoration {
  /// Appends the unique key that the model will have.
  ///
  /// - Returns: Its number; `nil` if it has none.
  fileprivate func appendKey(_ columns: [Int], to keys: inout KeyList) -> Int? {
    let layout = fate.descriptor.layout
    var writer = RowWriter()
    writer.begin(layout)
    // A writer takes columns in their order.
    for column in columns.sorted() {
      if let part = keyParts[column] {
        part.withBytes { writer.copy(column, from: $0, column: column, layout: layout) }
      } else {
        let row = model._$state.currentRow
        if row.isAbsent { continue }
        writer.copy(column, from: row.span, column: column, layout: layout)
      }
    }
    let range = writer.finish()
    return keys.append(columns, of: writer.bytes.extracting(range), layout)
  }
}
