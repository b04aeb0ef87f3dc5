package import Foundation
import RowFormat

/// A sort over rows: the source of each key, and its comparison.
package struct RowOrdering: Sendable {
  /// The source of a key's values.
  package enum Source: Sendable {
    case column(RowPath, ColumnReading)
    case identifier(RowPath)
  }

  package struct Key: Sendable {
    package let source: Source
    package let order: SortOrder
    let textOrder: TextOrder?
    /// Whether text is compared otherwise than by `<`.
    package var hasTextOrder: Bool { textOrder != nil }
  }

  package let keys: [Key]

  /// Translates the sort of a fetch.
  ///
  /// - Parameter descriptors: The sort keys, the most important one first.
  /// - Throws: ``Untranslatable`` if the models must be sorted as objects.
  package init<T: PersistentModel>(
    _ descriptors: [SortDescriptor<T>]
  ) throws(Untranslatable) {
    var keys: [Key] = []
    for descriptor in descriptors {
      guard let keyPath = descriptor.keyPath else { throw .node("\(descriptor)") }
      let found = try SortSource(keyPath, of: .of(T.self))
      if case .column(_, let reading) = found.source,
        reading.enumeration != nil || !reading.kind.isOrdered
      {
        // The order of an enumeration is in its `<`, not in its raw values.
        throw .value("order by \(keyPath)")
      }
      keys.append(
        Key(
          source: found.source,
          order: descriptor.order,
          textOrder: found.textOrder ?? descriptor.stringComparator.flatMap(TextOrder.init)
        )
      )
    }
    self.keys = keys
  }
}

extension RowOrdering {
  /// The order by a column, of texts by `<`.
  package init(by column: (path: RowPath, reading: ColumnReading), _ order: SortOrder) {
    keys = [Key(source: .column(column.path, column.reading), order: order, textOrder: nil)]
  }

  /// Whether another sort, of the same class, is the same; one by what other rows tell is like none.
  func isSame(as other: RowOrdering) -> Bool {
    keys.count == other.keys.count && zip(keys, other.keys).allSatisfy { $0.isSame(as: $1) }
  }
}

extension RowOrdering.Key {
  fileprivate func isSame(as other: RowOrdering.Key) -> Bool {
    guard case .column(let path, let reading) = source,
      case .column(let otherPath, let otherReading) = other.source
    else { return false }
    return order == other.order && textOrder?.name == other.textOrder?.name
      && path.isSameRow(as: otherPath)
      && reading.isSame(as: otherReading)
  }
}

extension RowOrdering {
  /// Makes the columns that collect the keys.
  ///
  /// An identifier takes two: the name of the entity, and the key.
  func makeColumns() -> [SortColumn] {
    keys.flatMap { key in
      switch key.source {
      case .column(_, let reading):
        [SortColumn(kind: reading.kind, order: key.order, textOrder: key.textOrder)]
      case .identifier:
        [
          SortColumn(kind: .text, order: key.order),
          SortColumn(kind: .unsigned, order: key.order),
        ]
      }
    }
  }

  /// The readers of the columns, for the rows of a class.
  func makeReaders(
    for descriptor: ModelDescriptor,
    _ resolver: any RowResolver
  ) -> [RowReader<QueryValue>] {
    let compiler = ExpressionCompiler(resolver: resolver, levels: [descriptor])
    return keys.flatMap { key in
      switch key.source {
      case .column(let path, let reading):
        return [compiler.value(.column(path, reading))]
      case .identifier(let path):
        let reference = compiler.referenceReader(path)
        return [
          { [resolver] in
            let name = try resolver.descriptor(of: reference($0, $1, $2))?.entityName
            return name.map(QueryValue.text) ?? .null
          },
          {
            let reference = try reference($0, $1, $2)
            return reference == .none ? .null : .integer(Int64(reference.key))
          },
        ]
      }
    }
  }
}
