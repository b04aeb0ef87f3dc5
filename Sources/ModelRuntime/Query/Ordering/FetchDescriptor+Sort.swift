import Foundation

extension FetchDescriptor {
  /// Sorts models as `sort(using:)` with the descriptor's keys does.
  ///
  /// Each key is read once a model, where a sort descriptor reads two for every comparison and casts them
  /// at that.
  package func sort(_ models: inout [T]) {
    guard !sortBy.isEmpty, models.count > 1 else { return }
    guard let order = sortedPositions(of: models) else { return models.sort(using: sortBy) }
    models = order.map { models[$0] }
  }

  /// The positions of models in order, or `nil` if a key is of a type that is not known here.
  private func sortedPositions(of models: [T]) -> [Int]? {
    var columns: [SortColumn] = []
    for descriptor in sortBy {
      guard let keyPath = descriptor.keyPath, let column = column(keyPath, descriptor, models)
      else {
        return nil
      }
      columns.append(column)
    }
    return SortKeys(columns).sorted()
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
    let declared = type(of: keyPath).valueType
    let type = (declared as? any OptionalType.Type)?.wrappedType ?? declared
    guard let scalar = type as? any QueryScalar.Type, scalar.queryKind.isOrdered else { return nil }
    var column = SortColumn(
      kind: scalar.queryKind,
      order: descriptor.order,
      textOrder: descriptor.stringComparator.map(TextOrder.init)
    )
    return fill(&column, keyPath, scalar, models) ? column : nil
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
