import Foundation
import LogEngine
import ModelRuntime
import RowFormat

extension TableStore {
  /// Hands the newest version of a row to a closure, in its entity's current layout.
  ///
  /// - Returns: `nil` if there is no such row.
  func withRow<R>(at reference: RowReference, _ body: (RawSpan) throws -> R) throws -> R? {
    guard let table = table(numbered: reference.table) else { return nil }
    return try engine.withRow(reference) { row, layout in
      try table.withCurrentRow(row, layout: layout, key: reference.key, body)
    }
  }

  /// Appends the key that some columns of a row make.
  ///
  /// - Returns: `false`, and nothing is appended, for a null among them or a row that does not exist.
  func appendKey(of row: RowReference, _ columns: [Int], to key: inout [UInt8]) throws -> Bool {
    guard let layout = table(numbered: row.table)?.layout else { return false }
    return try withRow(at: row) { ColumnKey.append(columns, of: $0, layout, to: &key) } ?? false
  }

  func rows(at references: [RowReference]) throws -> [FetchedRow?] {
    try perform(.fetching) {
      var builder = FetchedRowBuilder()
      var found: [Int?] = []
      for reference in references {
        let count = builder.rows.count
        _ = try withRow(at: reference) { builder.append(reference, row: $0) }
        found.append(builder.rows.count > count ? count : nil)
      }
      return found.map { $0.map { builder.rows[$0] } }
    }
  }

  func rows(
    referringTo target: RowReference,
    inTable number: UInt16,
    column: Int,
    rankColumn: Int?
  ) throws -> [RowReference] {
    guard let table = table(numbered: number) else { return [] }
    return try perform(.fetching) {
      try indexes.members(of: target, in: .init(table: number, column: column)) { index in
        try engine.scan(number) { key, layout, row in
          try table.withCurrentRow(row, layout: layout, key: key) { row in
            guard let (target, rank) = table.target(of: row, column) else { return }
            index.insert(key, rank: rank, target: target)
          }
          return .proceed
        }
      }
    }
  }
}

extension TableStore {
  /// The rows a fetch asks for.
  ///
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` for what
  ///   has to be done with objects.
  func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [FetchedRow] {
    let expression = try expression(of: descriptor.predicate)
    let window = FetchWindow(descriptor)
    if descriptor.sortBy.isEmpty { return try fetchUnsorted(T.self, expression, window) }
    return try fetchSorted(T.self, expression, try ordering(of: descriptor.sortBy), window)
  }

  private func fetchUnsorted<T: PersistentModel>(
    _: T.Type,
    _ expression: QueryExpression?,
    _ window: FetchWindow
  ) throws -> [FetchedRow] {
    var skipped = window.offset
    var builder = FetchedRowBuilder()
    try scan(tables(for: T.self), matching: expression) { reference, row in
      if skipped > 0 {
        skipped -= 1
        return .proceed
      }
      builder.append(reference, row: row)
      return builder.rows.count < window.limit ? .proceed : .stop
    }
    return builder.rows
  }

  /// Sorts by keys read from the rows; with a limit, only rows that can be among the first are kept.
  private func fetchSorted<T: PersistentModel>(
    _: T.Type,
    _ expression: QueryExpression?,
    _ ordering: RowOrdering,
    _ window: FetchWindow
  ) throws -> [FetchedRow] {
    var sorter = RowSorter(ordering, limit: window.end, resolver: StoreResolver(self))
    var builder = FetchedRowBuilder()
    let walk = FirstRowsWalk(ordering, end: window.end)
    try scan(
      tables(for: T.self),
      matching: expression,
      in: { table, filter in try walk?.rows(of: table, filter, in: self) }
    ) { reference, row in
      guard let table = table(numbered: reference.table) else { return .proceed }
      if try sorter.append(row, reference, of: table.descriptor) {
        builder.append(reference, row: row)
      }
      return .proceed
    }
    builder.rearrange(Array(sorter.sorted().dropFirst(window.offset)))
    return builder.rows
  }

  /// Counts the rows a fetch asks for, without keeping any.
  ///
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` for a predicate that needs objects.
  func count<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    var all = 0
    if let expression = try expression(of: descriptor.predicate) {
      try scan(tables(for: T.self), matching: expression) { _, _ in
        all += 1
        return .proceed
      }
    } else {
      all = tables(for: T.self).reduce(0) { $0 + engine.rowCount(of: $1.number) }
    }
    let window = FetchWindow(descriptor)
    return min(max(all - window.offset, 0), window.limit)
  }

  private func ordering<T: PersistentModel>(of sort: [SortDescriptor<T>]) throws -> RowOrdering {
    do {
      return try RowOrdering(sort)
    } catch {
      throw DataStoreError.preferInMemorySort
    }
  }

  private func expression<T: PersistentModel>(of predicate: Predicate<T>?) throws
    -> QueryExpression?
  {
    do {
      return try predicate.map { try QueryExpression($0) }
    } catch is Untranslatable {
      throw DataStoreError.preferInMemoryFilter
    }
  }

  /// Walks the rows of some tables that match, in key order: those the plan names, those that are chosen where it
  /// names none, or all.
  func scan(
    _ tables: [EntityTable],
    matching expression: QueryExpression?,
    in chosen: ((EntityTable, RowFilter?) throws -> [RowReference]?)? = nil,
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws {
    let resolver = StoreResolver(self)
    let plan = FetchPlan(expression)
    try perform(.fetching) {
      for table in tables {
        if expression?.canMatch(rowsOf: table.descriptor) == false { continue }
        let filter = expression.map {
          RowFilter($0, descriptor: table.descriptor, resolver: resolver)
        }
        var control = ScanControl.proceed
        func visit(_ key: UInt64, _ layout: LayoutNumber, _ row: RawSpan) throws -> ScanControl {
          let reference = RowReference(table: table.number, key: key)
          try table.withCurrentRow(row, layout: layout, key: key) { row in
            guard try filter?.matches(row, reference) ?? true else { return }
            control = try body(reference, row)
          }
          return control
        }
        if let candidates = try candidates(plan, in: table) ?? chosen?(table, filter) {
          for reference in candidates where control == .proceed {
            _ = try engine.withRow(reference) { try visit(reference.key, $1, $0) }
          }
        } else {
          try engine.scan(table.number, visit)
        }
        if control == .stop { return }
      }
    }
  }

  /// The rows of a table that a plan names, in key order; `nil` if it names none in particular.
  private func candidates(_ plan: FetchPlan, in table: EntityTable) throws -> [RowReference]? {
    switch plan {
    case .scan: return nil
    case .values(let lookups):
      // Of a class the predicate does not speak of, columns have other meanings.
      let own = lookups.filter { table.descriptor.isKind(of: $0.owner) }
      return own.isEmpty ? nil : try valueIndexes.rows(matching: own, in: table, of: self)
    case .rows(let identifiers):
      return identifiers.compactMap(reference(of:)).filter { $0.table == table.number }.sorted()
    case .referring(let property, let identifiers):
      return try identifiers.compactMap(reference(of:)).flatMap { target in
        try rows(
          referringTo: target,
          inTable: table.number,
          column: property.ordinal,
          rankColumn: table.descriptor.rankColumns[property.ordinal]
        )
      }.sorted()
    }
  }
}

/// Which of the rows that match are wanted.
private struct FetchWindow {
  let offset: Int
  let limit: Int

  init<T>(_ descriptor: FetchDescriptor<T>) {
    offset = max(descriptor.fetchOffset ?? 0, 0)
    limit = descriptor.fetchLimit.flatMap { $0 > 0 ? $0 : nil } ?? .max
  }

  /// How many of the first rows have to be known; `nil` for all.
  var end: Int? {
    let (end, overflow) = offset.addingReportingOverflow(limit)
    return overflow || limit == .max ? nil : end
  }
}
