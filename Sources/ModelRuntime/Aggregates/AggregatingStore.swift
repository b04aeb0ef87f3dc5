package import RowFormat

/// A store that measures its rows itself, without returning them.
package protocol AggregatingStore: RowStore {
  /// Measures the rows that match a request.
  ///
  /// - Parameters:
  ///   - request: The rows to measure; it has no limit and no offset.
  ///   - wanted: The measures.
  ///   - excluded: Rows that are left out, because the context has newer versions of them.
  /// - Returns: The groups with at least one row.
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` for a predicate that needs objects, or an error of reading.
  func aggregate<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>,
    _ wanted: AggregateRequest,
    excluding excluded: ExcludedRows
  ) throws -> GroupTable

  /// Reads the values of some sources of the rows that match a request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - sources: The values to read of each row.
  ///   - columns: Take the values, one for each source.
  /// - Returns: The number of rows, and their order.
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` for a request that needs
  ///   objects, an error of reading, or what the columns throw.
  func readValues<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>,
    _ sources: [AggregateRequest.Source],
    into columns: [ValueColumn]
  ) throws -> ValueOrder
}

/// Reads the values of some sources from rows of one class.
package struct SourceReader {
  private let readers: [RowReader<QueryValue>]
  private let scope = QueryScope()

  package init(
    _ sources: [AggregateRequest.Source],
    of descriptor: ModelDescriptor,
    _ resolver: any RowResolver
  ) {
    let compiler = ExpressionCompiler(resolver: resolver, levels: [descriptor])
    readers = sources.map { source in
      guard let expression = source.expression else {
        preconditionFailure("rows do not tell what only objects can")
      }
      return compiler.value(expression)
    }
  }

  /// The values of a row, in the order of the sources.
  ///
  /// - Throws: ``SwiftDataError/expressionFailure`` if an operation has no result, or an error of reading.
  package func values(of row: RawSpan, _ reference: RowReference) throws -> [QueryValue] {
    var values: [QueryValue] = []
    values.reserveCapacity(readers.count)
    try SwiftDataError.explainingFailures {
      for reader in readers { values.append(try reader(row, reference, scope)) }
    }
    return values
  }

  /// Appends the values of a row to columns, one for each source.
  ///
  /// - Throws: As ``values(of:_:)``, or what the columns throw.
  package func read(
    _ row: RawSpan,
    _ reference: RowReference,
    into columns: [ValueColumn]
  ) throws {
    try SwiftDataError.explainingFailures {
      for place in readers.indices {
        try columns[place].append(try readers[place](row, reference, scope))
      }
    }
  }
}
