import RowFormat

extension ExpressionCompiler {
  /// Makes a reader for the row at the end of a path.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - missing: The result if the path leads to no row.
  ///   - leaf: Makes the reader for the rows of a class; called once for each class met.
  /// - Returns: The reader, for the current row.
  func along<Value>(
    _ path: RowPath,
    missing: @escaping (RowPath.Absence) throws -> Value,
    _ leaf: @escaping (ModelDescriptor) -> RowReader<Value>
  ) -> RowReader<Value> {
    let reader = following(path.steps[...], from: levels[path.level], missing, leaf)
    if path.level == level { return reader }
    return { [level = path.level] _, _, scope in try scope.read(level, reader) }
  }

  private func following<Value>(
    _ steps: ArraySlice<RowPath.Step>,
    from descriptor: ModelDescriptor,
    _ missing: @escaping (RowPath.Absence) throws -> Value,
    _ leaf: @escaping (ModelDescriptor) -> RowReader<Value>
  ) -> RowReader<Value> {
    guard let step = steps.first else { return leaf(descriptor) }
    guard let slot = ColumnSlot(step.property.ordinal, descriptor) else { return failing() }
    let absence = RowPath.absence(at: steps)
    let next = ReaderCache { self.following(steps.dropFirst(), from: $0, missing, leaf) }
    let known = TargetCache<Value>()
    return { [resolver] row, _, scope in
      if slot.isNull(in: row) { return try missing(absence) }
      let target = RowReference(rawValue: row.load(UInt64.self, at: slot.offset))
      if let value = known[target] { return value }
      guard let descriptor = resolver.descriptor(of: target),
        step.property.canLead(to: descriptor)
      else { return try missing(absence) }
      let reader = next.reader(for: descriptor)
      var result: Value?
      _ = try resolver.withRow(target) { result = try reader($0, target, scope) }
      let value = try result ?? missing(absence)
      known[target] = value
      return value
    }
  }

  /// Reads the name of the row at the end of a path; none if there is no row.
  ///
  /// The existence of the row is tested only if nobody clears references to deleted rows: its name is in the row
  /// before it.
  func referenceReader(_ path: RowPath) -> RowReader<RowReference> {
    guard let last = path.steps.last else {
      if path.level == level { return { _, reference, _ in reference } }
      return { [level = path.level] _, _, scope in
        try scope.read(level) { _, reference, _ in reference }
      }
    }
    let missing = { (absence: RowPath.Absence) throws -> RowReference in
      if absence == .failure { throw QueryFailure.unwrappedNil }
      return .none
    }
    let exists = last.property.inverse == nil ? presenceTest() : nil
    let isOfClass = classTest(last.property)
    return along(path.droppingLast(), missing: missing) { descriptor in
      guard let slot = ColumnSlot(last.property.ordinal, descriptor) else { return failing() }
      return { row, _, _ in
        if slot.isNull(in: row) { return try missing(last.absence) }
        let target = RowReference(rawValue: row.load(UInt64.self, at: slot.offset))
        guard isOfClass(target), try exists?(target) ?? true else {
          return try missing(last.absence)
        }
        return target
      }
    }
  }

  /// The test whether a name belongs to a table that a relationship can lead to, whether the row exists or not.
  func classTest(_ property: ModelProperty) -> (RowReference) -> Bool {
    // Rows come one table after the other, and nearly always from one.
    var last: (table: UInt16, canLead: Bool)?
    return { [resolver] target in
      if let last, last.table == target.table { return last.canLead }
      let canLead = property.canLead(to: resolver.descriptor(of: target))
      last = (target.table, canLead)
      return canLead
    }
  }

  /// The test whether a row with a name exists.
  ///
  /// A delete clears the references that have an inverse. A relationship without one still names the row, and
  /// reads as nil.
  func presenceTest() -> (RowReference) throws -> Bool {
    let known = TargetCache<Bool>()
    return { [resolver] target in
      if let exists = known[target] { return exists }
      let exists = try resolver.contains(target)
      known[target] = exists
      return exists
    }
  }

  /// A reader for rows without the value to read: rows of a class that the user's code rules out.
  func failing<Value>() -> RowReader<Value> {
    { _, _, _ in throw QueryFailure.otherClass }
  }
}

extension RowPath {
  /// The result of a read if the first of some steps leads to no row.
  ///
  /// A row that replaces a missing one has neutral values, so its own optional references are nil.
  static func absence(at steps: ArraySlice<Step>) -> Absence {
    steps.first { $0.absence != .neutral }?.absence ?? .neutral
  }
}
