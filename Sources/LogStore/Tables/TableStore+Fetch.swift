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
    func convert(_ row: RawSpan, _ layout: LayoutNumber) throws -> R {
      try table.withCurrentRow(row, layout: layout, key: reference.key, body)
    }
    if let view = past?.view ?? pinnedView { return try view.withRow(reference, convert) }
    return try engine.withRow(reference, convert)
  }

  /// Appends the key that some columns of a row make.
  ///
  /// - Returns: `false`, and nothing is appended, for a null among them or a row that does not exist.
  func appendKey(of row: RowReference, _ columns: [Int], to key: inout [UInt8]) throws -> Bool {
    guard let layout = table(numbered: row.table)?.layout else { return false }
    return try withRow(at: row) { ColumnKey.append(columns, of: $0, layout, to: &key) } ?? false
  }

  /// The newest version of a row, in a block of its size; `nil` if there is none.
  func row(at reference: RowReference) throws -> FetchedRow? {
    try perform(.fetching) {
      try withRow(at: reference) { FetchedRow(copying: $0, reference) }
    }
  }

  /// The newest versions of rows.
  func rows(at references: [RowReference]) throws -> [FetchedRow?] {
    if references.count == 1 { return [try row(at: references[0])] }
    // Of several rows, one state: a save may have changed them together.
    return try perform(.fetching) { try rows(at: references, as: makeReadView()) }
  }

  /// The rows that a closure names, given the number of the newest commit of the state that they are read from.
  func rows(ofOneState choose: (UInt64) throws -> [RowReference]) throws -> [FetchedRow?] {
    let view = try makeReportedReadView()
    return try perform(.fetching) { try rows(at: choose(view.sequence.rawValue), as: view) }
  }

  /// Lends the newest versions of rows, whose references ascend.
  func visitRows(
    at references: [RowReference],
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws {
    assert(
      zip(references, references.dropFirst()).allSatisfy { $0.rawValue < $1.rawValue },
      "rows are visited in the order of their references"
    )
    try perform(.fetching) {
      let view = makeReadView()
      var rest = references[...]
      while let first = rest.first {
        let rows = rest.prefix { $0.table == first.table }
        rest = rest[rows.endIndex...]
        guard let table = table(numbered: first.table) else { continue }
        try view.scan(first.table, keys: rows.map(\.key)) { key, layout, row in
          try table.withCurrentRow(row, layout: layout, key: key) {
            try body(RowReference(table: table.number, key: key), $0)
          }
          return .proceed
        }
      }
    }
  }

  /// The rows that have unique keys, by the numbers of these.
  func rows(
    having keys: KeyList,
    of constraint: UniquenessConstraint
  ) throws -> [RowReference] {
    guard let number = indexes.constraints.firstIndex(of: constraint) else {
      preconditionFailure("the store has no such constraint of \(constraint.owner.entityName)")
    }
    return try perform(.fetching) {
      // Called again, should the index's file be damaged.
      try indexes.unique[number].withNewest(in: self) { content in
        guard case .unique(let stored) = content else { return [] }
        return try rows(having: keys, constraint.columns, among: stored)
      }
    }
  }

  private func rows(
    having keys: KeyList,
    _ columns: [Int],
    among stored: UniqueRows
  ) throws -> [RowReference] {
    var rows: [RowReference] = []
    rows.reserveCapacity(keys.count)
    var scratch: [UInt8] = []
    for number in 0..<keys.count {
      var holder = RowReference.none
      try stored.forEach(keys.hash(of: number)) { row in
        scratch.removeAll(keepingCapacity: true)
        guard try appendKey(of: row, columns, to: &scratch), scratch[...] == keys[number] else {
          return true
        }
        holder = row
        return false
      }
      rows.append(holder)
    }
    return rows
  }

  /// The rows as of a view, visited in the order of their keys: blocks of packs are put together once.
  private func rows(at references: [RowReference], as view: ReadView) throws -> [FetchedRow?] {
    var order = Array(references.indices)
    if !zip(references, references.dropFirst()).allSatisfy({ $0.rawValue <= $1.rawValue }) {
      order.sort { references[$0].rawValue < references[$1].rawValue }
    }
    var found: [FetchedRow?] = Array(repeating: nil, count: references.count)
    var builder = FetchedRowBuilder()
    var rest = order[...]
    while let first = rest.first {
      let number = references[first].table
      var places = rest.prefix { references[$0].table == number }
      rest = rest[places.endIndex...]
      guard let table = table(numbered: number) else { continue }
      var keys: [UInt64] = []
      keys.reserveCapacity(places.count)
      for place in places where references[place].key != keys.last {
        keys.append(references[place].key)
      }
      try view.scan(number, keys: keys) { key, layout, row in
        try table.withCurrentRow(row, layout: layout, key: key) { row in
          let copy = builder.take(RowReference(table: number, key: key), row: row)
          // A row may be asked for twice; those before it do not exist.
          while let place = places.first, references[place].key <= key {
            places.removeFirst()
            if references[place].key == key { found[place] = copy }
          }
        }
        return .proceed
      }
    }
    return found
  }

  func rows(
    referringTo target: RowReference,
    inTable number: UInt16,
    column: Int
  ) throws -> [ReferringRow] {
    guard let index = indexes.references(number, column) else { return [] }
    return try perform(.fetching) {
      if let view = pinnedView {
        return try rows(referringTo: target, of: index, as: view)
          ?? StoreResolver(self, as: view).referringRows(to: target, number, column)
      }
      return try index.withNewest(in: self) { content in
        guard case .ordered(let keys) = content else { return [] }
        return try keys.rows(referringTo: target)
      }
    }
  }
}

extension TableStore {
  /// The rows that refer to a row as of a view; `nil` if that is no longer the newest state.
  ///
  /// Mostly it is, and an index need not be brought to an older one.
  private func rows(
    referringTo target: RowReference,
    of index: LazyIndex,
    as view: ReadView
  ) throws -> [ReferringRow]? {
    try index.withNewest(in: self) { content in
      guard case .ordered(let keys) = content, newestCommit == view.sequence.rawValue else {
        return nil
      }
      return try keys.rows(referringTo: target)
    }
  }

  /// Calls a closure with the rows that refer to any of some rows.
  ///
  /// - Parameters:
  ///   - targets: The rows that are referred to.
  ///   - number: The table of the rows that refer.
  ///   - column: The column of the reference.
  ///   - body: Receives the place of the target, and the row that refers to it; by target, rank and key.
  /// - Throws: What reading the index or the table throws.
  func forEachReference(
    to targets: ArraySlice<RowReference>,
    inTable number: UInt16,
    _ column: Int,
    _ body: (_ place: Int, _ row: RowReference) -> Void
  ) throws {
    guard let index = indexes.references(number, column) else { return }
    let found = try perform(.fetching) {
      try index.withNewest(in: self) { content -> [(place: Int, row: RowReference)] in
        guard case .ordered(let keys) = content else { return [] }
        var found: [(place: Int, row: RowReference)] = []
        for place in targets.indices {
          try keys.forEach(referringTo: targets[place]) { found.append((place, $0.row)) }
        }
        return found
      }
    }
    for (place, row) in found { body(place, row) }
  }
}

// MARK: Fetching

extension TableStore {
  /// The rows a fetch asks for.
  ///
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` for what
  ///   has to be done with objects.
  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ trace: QueryTrace? = nil
  ) throws -> [FetchedRow] {
    try fetch(descriptor, StoreResolver(self, trace))
  }

  /// The rows a fetch asks for that are not among some; up to a place, all are.
  ///
  /// - Throws: As ``fetch(_:_:)``.
  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    excluding excluded: ExcludedRows,
    behind place: PagePosition?,
    _ trace: QueryTrace?
  ) throws -> [FetchedRow] {
    var query = try StoreQuery(descriptor)
    query.excluded = excluded
    query.start = place
    return try fetch(T.self, query, StoreResolver(self, trace))
  }

  /// The rows a fetch asks for, as of the view of a resolver.
  ///
  /// - Throws: As ``fetch(_:_:)``.
  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ resolver: StoreResolver
  ) throws -> [FetchedRow] { try fetch(T.self, StoreQuery(descriptor), resolver) }

  private func fetch<T: PersistentModel>(
    _: T.Type,
    _ query: StoreQuery,
    _ resolver: StoreResolver
  ) throws -> [FetchedRow] {
    var builder = FetchedRowBuilder(expecting: query.window.limit == .max ? 0 : query.window.limit)
    if let ordering = query.ordering {
      let order = try visit(T.self, query, by: ordering, resolver) { builder.append($0, row: $1) }
      if let order { builder.rearrange(order) }
      return builder.rows
    }
    var skipped = query.window.offset
    try visit(T.self, query, for: .rows, resolver) { fetch in
      try fetch.visit(skipping: &skipped) { reference, row in
        builder.append(reference, row: row)
        return builder.rows.count < query.window.limit ? .proceed : .stop
      }
    }
    return builder.rows
  }

  /// The names of the rows a fetch asks for; none of the rows is kept, and where columns tell, none is read.
  ///
  /// - Throws: As ``fetch(_:)``.
  func references<T: PersistentModel>(
    of descriptor: FetchDescriptor<T>,
    _ trace: QueryTrace? = nil
  ) throws -> [RowReference] {
    let query = try StoreQuery(descriptor)
    let resolver = StoreResolver(self, trace)
    var references: [RowReference] = []
    if let ordering = query.ordering {
      let order = try visit(T.self, query, by: ordering, resolver) { row, _ in
        references.append(row)
      }
      return order.map { $0.map { references[$0] } } ?? references
    }
    var skipped = query.window.offset
    try visit(T.self, query, for: .names, resolver) { fetch in
      if query.window.isUnbounded, let shared = SharedNames(fetch, query.expression) {
        try shared.append(to: &references)
        return .proceed
      }
      return try fetch.visitNames { reference in
        if skipped > 0 {
          skipped -= 1
          return .proceed
        }
        references.append(reference)
        return references.count < query.window.limit ? .proceed : .stop
      }
    }
    return references
  }

  /// Counts the rows a fetch asks for, without keeping any.
  ///
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` for a predicate that needs objects.
  func count<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ trace: QueryTrace? = nil
  ) throws -> Int {
    let query = try StoreQuery(counting: descriptor)
    var all = 0
    if query.expression == nil {
      let tables = tables(for: T.self)
      if tables.count == 1 {
        all = rowCount(of: tables[0].number)
      } else {
        let view = makeReadView()
        all = tables.reduce(0) { $0 + view.rowCount(of: $1.number) }
      }
      if let trace {
        for table in tables {
          let count = rowCount(of: table.number)
          trace.add(.init(.rowCount, of: table, rowCount: count, matching: count))
        }
      }
    } else {
      try visit(T.self, query, for: .count, StoreResolver(self, trace)) { fetch in
        all += try fetch.count()
        return .proceed
      }
    }
    return query.window.count(of: all)
  }

  /// Counts the rows a fetch asks for, without some.
  ///
  /// - Returns: `nil` if these are not told from the others where the rows are counted.
  /// - Throws: As ``count(_:_:)``.
  func count<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    excluding excluded: ExcludedRows,
    _ trace: QueryTrace?
  ) throws -> Int? {
    var query = try StoreQuery(counting: descriptor)
    if query.expression == nil { return nil }
    query.excluded = excluded
    var all: Int? = 0
    try visit(T.self, query, for: .count, StoreResolver(self, trace)) { fetch in
      guard let counted = all, let count = try fetch.countWithoutExcluded() else {
        all = nil
        return .stop
      }
      all = counted + count
      return .proceed
    }
    return all.map(query.window.count)
  }

  /// Visits the rows that can be among the first of a sort, table by table in key order.
  ///
  /// - Returns: The wanted ones of the visited rows, in order; `nil` if these are all of them, as they were visited.
  func visit<T: PersistentModel>(
    _: T.Type,
    _ query: StoreQuery,
    by ordering: RowOrdering,
    _ resolver: StoreResolver,
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws -> [Int]? {
    let trace = resolver.trace
    var sorter: RowSorter?
    let first = FirstRows(ordering, end: query.window.end)
    // Of one table an index may bring just the rows that are wanted, and in order.
    let isAlone = tables(for: T.self).count == 1
    let output = first.map { isAlone ? TableFetch.Output.page($0, query.window) : .first($0) }
    // Of a page: the places of its rows among those that were visited, unless that is their order.
    var isPage = false
    var places: [Int]?
    try visit(T.self, query, for: output ?? .rows, resolver) { fetch in
      if let keys = fetch.page {
        var visited: [UInt64] = []
        visited.reserveCapacity(keys.count)
        _ = try fetch.visit { reference, row in
          visited.append(reference.key)
          try body(reference, row)
          return .proceed
        }
        isPage = true
        places = visited == keys ? nil : visited.places(of: keys)
        return .stop
      }
      let descriptor = fetch.table.descriptor
      var rows = sorter ?? RowSorter(ordering, limit: query.window.end, resolver: resolver)
      // One owner at a time: its columns would be copied.
      sorter = nil
      defer { sorter = rows }
      return try fetch.visit { reference, row in
        if try rows.append(row, reference, of: descriptor) { try body(reference, row) }
        return .proceed
      }
    }
    if isPage { return places }
    let start = trace?.now
    defer { trace?.add(.sort, since: start) }
    return sorter.map { Array($0.sorted().dropFirst(query.window.offset)) } ?? []
  }

  /// Visits the tables whose rows can match, until the closure stops it.
  func visit<T: PersistentModel>(
    _: T.Type,
    _ query: StoreQuery,
    for output: TableFetch.Output,
    _ resolver: StoreResolver,
    _ body: (TableFetch) throws -> ScanControl
  ) throws {
    let plan = CandidatePlan(query.expression, textHash)
    let trace = resolver.trace
    try perform(.fetching) {
      for table in tables(for: T.self) {
        if query.expression?.canMatch(rowsOf: table.descriptor) == false {
          let rowCount = resolver.view.rowCount(of: table.number)
          trace?.add(.init(.nothing, of: table, rowCount: rowCount))
          continue
        }
        let start = trace?.now
        let fetch = try TableFetch(
          self,
          table,
          query.expression,
          plan,
          for: output,
          limit: query.ordering == nil ? query.window.end : nil,
          excluding: query.excluded?.keys(of: table.number),
          behind: query.start,
          resolver
        )
        trace?.add(.plan, since: start)
        let middle = trace?.now
        defer {
          trace?.add(.read, since: middle)
          if let tally = fetch.tally { trace?.add(tally.access) }
        }
        if try body(fetch) == .stop { return }
      }
    }
  }
}

extension [UInt64] {
  /// The places that some numbers have in this ascending list; those that it lacks are left out.
  fileprivate func places(of numbers: [UInt64]) -> [Int] {
    assert(zip(self, dropFirst()).allSatisfy(<), "rows are visited in the order of their keys")
    return numbers.compactMap { number in
      let place = partitionPoint { $0 < number }
      return place < endIndex && self[place] == number ? place : nil
    }
  }
}
