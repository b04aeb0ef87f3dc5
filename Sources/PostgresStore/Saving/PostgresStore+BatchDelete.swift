#if PostgreSQL
public import ModelRuntime
import RowFormat

extension PostgresStore: DataStoreBatching {
  /// Deletes the rows that a predicate matches, in one transaction.
  ///
  /// The store knows no delete rules: relationships to the rows are nil afterwards. A context deletes through the
  /// models instead, so that the rules hold.
  ///
  /// - Throws: ``PostgresStoreError``, or `DataStoreError.preferInMemoryFilter` for a predicate that needs objects; then
  ///   nothing is deleted.
  /// - Complexity: That of fetching the rows' names.
  public func delete<T>(_ request: DataStoreBatchDeleteRequest<T>) throws where T: PersistentModel {
    let fetch = DataStoreFetchRequest(
      descriptor: FetchDescriptor(predicate: request.predicate),
      editingState: request.editingState
    )
    let ownTable =
      request.includeSubclasses ? nil : table(forEntityNamed: Schema.entityName(for: T.self))
    var left: [DanglingReferences.Reference] = []
    while true {
      let rows = try fetchReferences(fetch).filter { ownTable == nil || $0.table == ownTable }
      do {
        let gone = Set(rows)
        _ = try saveRows(for: request.editingState) { sink in
          for row in rows { sink.delete(row) }
          try nullify(left.filter { !gone.contains($0.row) }, in: sink)
        }
        return
      } catch let dangling as DanglingReferences {
        // Others may be added while these are being nullified: then the next attempt finds them, too.
        left += dangling.toDeletedRows
      } catch is VanishedRow {
        // Somebody else has deleted one of them: the next attempt finds what is left.
        left = []
      }
    }
  }

  /// Sets references to nil.
  private func nullify(
    _ references: [DanglingReferences.Reference],
    in sink: any RowChangeSink
  ) throws {
    for (row, references) in Dictionary(grouping: references, by: \.row).sorted(by: {
      $0.key < $1.key
    }) {
      guard let table = tables.table(numbered: row.table) else { continue }
      var changed = ColumnSet()
      for reference in references {
        changed.insert(reference.column)
        if let rank = table.rank(of: reference.column) { changed.insert(rank.position) }
      }
      // Only the columns that are null now are written.
      var writer = RowWriter()
      writer.begin(table.layout)
      let range = writer.finish()
      sink.update(row, changed: changed, row: writer.bytes.extracting(range))
    }
  }
}
#endif
