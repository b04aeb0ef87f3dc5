import Foundation
import RowFormat

extension FetchDescriptor {
  /// Sorts models like `sort(using:)` with the descriptor's keys.
  ///
  /// Each key is read once per model, whereas a sort descriptor reads two for every comparison, and casts
  /// them.
  package func sort(_ models: inout [T]) {
    guard !sortBy.isEmpty, models.count > 1 else { return }
    models = sortedPositions(of: models).map { models[$0] }
  }

  /// Sorts models by the descriptor's keys, and those with equal keys in the order of their rows in the store; models
  /// without a row come last, in the given order.
  func sortByRow(_ models: inout [T]) {
    let places = models.map { model -> QueryValue in
      // By bits, compared as unsigned: models without a row after all others.
      .integer(Int64(bitPattern: model.row?.rawValue ?? .max))
    }
    var column = SortColumn(kind: .unsigned, order: .forward)
    for place in places { column.append(place) }
    models = sortedPositions(of: models, then: column).map { models[$0] }
  }

  /// Sorts models.
  ///
  /// - Parameters:
  ///   - models: The models.
  ///   - last: Orders models whose keys are equal; by default, they keep their order.
  /// - Returns: Their positions in order.
  private func sortedPositions(of models: [T], then last: SortColumn? = nil) -> [Int] {
    let keys = sortBy.map { descriptor in
      (
        descriptor: descriptor,
        column: descriptor.keyPath.flatMap { column($0, descriptor, models) }
      )
    }
    let known = keys.compactMap(\.column)
    if known.count == keys.count { return SortKeys(known + (last.map { [$0] } ?? [])).sorted() }
    // Keys of a type that only its descriptor compares are beside others, which have an order for what is not a number.
    return models.indices.sorted { lhs, rhs in
      for key in keys {
        let order =
          key.column?.compare(lhs, rhs)
          ?? key.descriptor.compare(models[lhs], models[rhs]).rawValue
        if order != 0 { return order < 0 }
      }
      let order = last?.compare(lhs, rhs) ?? 0
      return order == 0 ? lhs < rhs : order < 0
    }
  }

  private func column(
    _ keyPath: PartialKeyPath<T>,
    _ descriptor: SortDescriptor<T>,
    _ models: [T]
  ) -> SortColumn? {
    if let (texts, textOrder) = TextOrder.texts(at: keyPath, of: models) {
      var column = SortColumn(kind: .text, order: descriptor.order, textOrder: textOrder)
      for text in texts { column.append(text.map(QueryValue.text) ?? .null) }
      return column
    }
    if isIdentifier(keyPath, of: T.self) { return identifierColumn(descriptor, models) }
    let declared = type(of: keyPath).valueType
    let type = TypeMetadata.unwrapped(declared)
    guard let scalar = queryScalar(type), scalar.queryKind.isOrdered else { return nil }
    var column = SortColumn(
      kind: scalar.queryKind,
      order: descriptor.order,
      textOrder: descriptor.stringComparator.flatMap(TextOrder.init)
    )
    return fill(&column, keyPath, scalar, models) ? column : nil
  }

  /// The ranks of the models' identifiers among each other.
  private func identifierColumn(_ descriptor: SortDescriptor<T>, _ models: [T]) -> SortColumn {
    let identifiers = models.map(\.persistentModelID)
    var ranks = Array(repeating: 0, count: models.count)
    for (rank, place) in identifiers.indices.sorted(by: { identifiers[$0] < identifiers[$1] })
      .enumerated()
    {
      ranks[place] = rank
    }
    var column = SortColumn(kind: .integer, order: descriptor.order)
    for rank in ranks { column.append(.integer(Int64(rank))) }
    return column
  }

  private func fill<Value: QueryScalar>(
    _ column: inout SortColumn,
    _ keyPath: PartialKeyPath<T>,
    _: Value.Type,
    _ models: [T]
  ) -> Bool {
    if let keyPath = keyPath as? KeyPath<T, Value> {
      for model in models { column.append(model[keyPath: keyPath].queryValue ?? .null) }
    } else if let keyPath = keyPath as? KeyPath<T, Value?> {
      for model in models { column.append(model[keyPath: keyPath]?.queryValue ?? .null) }
    } else {
      return false
    }
    return true
  }
}

extension PersistentModel {
  /// The row of the object, or `nil` if it was never saved.
  var row: RowReference? {
    if let row = unsafe _$fetchedRow.stored { return unsafe row.reference }
    let state = _$state
    return state.flags.contains(.stored) ? state.reference : nil
  }
}
