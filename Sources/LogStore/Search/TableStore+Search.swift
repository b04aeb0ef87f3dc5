import LogEngine
import ModelRuntime
import RowFormat

extension TableStore {
  /// Finds the rows a fetch asks for that have the words of a query, the best first; all as of one commit.
  ///
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` for a predicate that needs objects.
  func search<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ wanted: SearchRequest,
    excluding excluded: ExcludedRows,
    _ trace: QueryTrace?
  ) throws -> SearchAnswer {
    let query = try StoreQuery(counting: descriptor)
    let resolver = StoreResolver(self, trace)
    return try perform(.fetching) {
      let start = trace?.now
      // All tables tell how rare a word is, also those that the predicate leaves out.
      let searches = try tables(for: T.self).map { try WordSearch(self, $0, wanted, resolver) }
      var answer = SearchAnswer(
        statistics: wanted.columns.map { _ in
          TextScore.Statistics(termCount: wanted.query.terms.count)
        },
        rows: []
      )
      for search in searches { try search.add(to: &answer.statistics) }
      trace?.add(.plan, since: start)
      let middle = trace?.now
      var best: [(reference: RowReference, score: Double)] = []
      for search in searches
      where query.expression?.canMatch(rowsOf: search.table.descriptor) != false {
        let own = excluded.keys(of: search.table.number)
        best += try search.best(answer.statistics, query.expression, excluding: own)
      }
      if searches.count > 1 {
        best.sort { $0.score != $1.score ? $0.score > $1.score : $0.reference < $1.reference }
        if let limit = wanted.limit { best = Array(best.prefix(limit)) }
      }
      var rows = FetchedRowBuilder()
      for found in best {
        let count = rows.rows.count
        _ = try resolver.withRow(found.reference) { rows.append(found.reference, row: $0) }
        if rows.rows.count > count { answer.rows.append((rows.rows[count], found.score)) }
      }
      trace?.add(.read, since: middle)
      return answer
    }
  }
}

extension LogBackedStore {
  package func search<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>,
    _ wanted: SearchRequest,
    excluding excluded: ExcludedRows
  ) throws -> SearchAnswer {
    let tables = try openTables()
    return try tables.answer(request, .search) {
      try tables.follow()
      return try tables.search(request.descriptor, wanted, excluding: excluded, $0)
    }
  }
}
