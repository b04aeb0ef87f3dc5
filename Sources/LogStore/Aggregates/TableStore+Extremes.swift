import Foundation
import LogEngine
import ModelRuntime
import RowFormat

// The least and the greatest value of an indexed column stand at the ends of its index.

extension TableStore {
  /// Measures the rows a fetch asks for by the ends of indexes.
  ///
  /// - Parameters:
  ///   - model: The class.
  ///   - query: The fetch.
  ///   - wanted: The measures.
  ///   - excluded: Rows that do not count.
  ///   - resolver: Answers about other rows, as of the view.
  ///   - result: Receives the values.
  /// - Returns: `false`, with nothing measured, if something else is measured, or the indexes do not tell soon.
  /// - Throws: What reading throws.
  func addExtremes<T: PersistentModel>(
    _ model: T.Type,
    _ query: StoreQuery,
    _ wanted: AggregateRequest,
    excluding excluded: ExcludedRows,
    _ resolver: StoreResolver,
    to result: GroupTable
  ) throws -> Bool {
    let tables = tables(for: T.self)
    guard tables.count == 1, wanted.keys.isEmpty, !wanted.measures.isEmpty,
      let extremes = wanted.extremes, let table = tables.first,
      query.expression?.canMatch(rowsOf: table.descriptor) != false
    else { return false }
    let indexes = TableIndexes(
      self,
      table,
      CandidatePlan(query.expression, textHash),
      isFiltered: query.expression != nil,
      resolver.view
    )
    guard let indexes else { return false }
    return try perform(.fetching) {
      var found: [ExtremeValues] = []
      for extreme in extremes {
        guard let (walk, keys) = try indexes.exact(by: extreme.order),
          let values = try values(
            atEndOf: walk,
            keys,
            SourceReader([wanted.sources[extreme.source]], of: table.descriptor, resolver),
            excluding: excluded.keys(of: table.number),
            of: table,
            resolver.view
          )
        else { return false }
        found.append(values)
      }
      for (measure, values) in found.enumerated() {
        for value in values.candidates { result.accumulators[measure].add(value, to: 0) }
        resolver.trace?.add(values.tally.access)
      }
      return true
    }
  }

  /// Reads the values of which one is the first in the order of an index.
  ///
  /// - Returns: `nil` if there are too many.
  private func values(
    atEndOf walk: IndexWalk,
    _ keys: OrderedKeys,
    _ reader: SourceReader,
    excluding excluded: ExcludedRows.Keys,
    of table: EntityTable,
    _ view: ReadView
  ) throws -> ExtremeValues? {
    let tally = TableTally(table, rowCount: view.rowCount(of: table.number))
    var candidates: [QueryValue] = []
    var isFound = false
    var readCount = 0
    let isSoon = try walk.forEachValue(
      in: keys,
      atMost: ExtremeValues.readLimit,
      excluding: excluded
    ) { key, beginsGroup in
      if beginsGroup, isFound { return false }
      let reference = RowReference(table: table.number, key: key)
      let values = try view.withRow(reference) { row, layout in
        tally.readRow(row.byteCount)
        return try table.withCurrentRow(row, layout: layout, key: key) {
          try reader.values(of: $0, reference)
        }
      }
      readCount += 1
      guard let value = values?.first, !value.isNull else { return true }
      candidates.append(value)
      // What is no number counts only if there is no number.
      if case .double(let number) = value, number.isNaN { return true }
      isFound = true
      return true
    }
    guard isSoon else { return nil }
    tally.choose(walk, candidates: readCount)
    tally.match(readCount)
    return ExtremeValues(candidates: candidates, tally: tally)
  }
}

/// The values at an end of an index.
private struct ExtremeValues {
  /// Maximum number of rows to read.
  ///
  /// Texts that begin alike are next to each other in no certain order: if there are many, a column is read faster.
  static let readLimit = 32

  /// Values of which one is the least or the greatest; none if no row has one.
  let candidates: [QueryValue]
  let tally: TableTally
}

/// A least or greatest value that is asked for.
private struct Extreme {
  let source: Int
  /// The order in which the first row has it.
  let order: RowOrdering
}

extension AggregateRequest {
  /// The values of the measures; `nil` if one asks for more than the least or the greatest of a column.
  fileprivate var extremes: [Extreme]? {
    var extremes: [Extreme] = []
    for measure in measures {
      guard let source = measure.value, let column = sources[source].column,
        column.path.isTestedRow, column.reading.enumeration == nil
      else { return nil }
      let order: SortOrder
      switch measure.function {
      case .minimum: order = .forward
      case .maximum: order = .reverse
      default: return nil
      }
      extremes.append(Extreme(source: source, order: RowOrdering(by: column, order)))
    }
    return extremes
  }
}
