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
      } catch is RowConflicts {
        // Others have changed what is written along: the next attempt copies what they have set.
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
      var cleared: Set<Int> = []
      for reference in references {
        cleared.insert(reference.column)
        if let rank = table.rank(of: reference.column) { cleared.insert(rank.position) }
      }
      var changed = ColumnSet()
      for column in cleared { changed.insert(column) }
      // Only the columns that are null now are written, and those that share a mark with one of them.
      let writtenUnset = table.layout.columnsWritten(with: cleared)
      let former = writtenUnset.isEmpty ? nil : try rows(at: [row])[0]
      if former == nil, !writtenUnset.isEmpty { continue }
      var writer = RowWriter()
      writer.begin(table.layout)
      former?.withBytes { stored in
        for column in writtenUnset {
          writer.copy(column, from: stored, column: column, layout: table.layout)
        }
      }
      let range = writer.finish()
      let new = writer.bytes.extracting(range)
      sink.update(row, changed: changed, row: new)
      guard !writtenUnset.isEmpty, let sink = sink as? any ValueExpecting else { continue }
      sink.expectValues(of: row, writtenUnset, from: new.withUnsafeBytes { Array($0) })
    }
  }
}
#endif
