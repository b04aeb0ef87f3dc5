import Foundation
import LogEngine
import ModelRuntime
import RowFormat
import SwiftData
import Testing

@testable import LogStore

/// What looking at each row by itself answers.
private struct RowByRow {
  let tables: TableStore
  private let resolver: StoreResolver

  init(_ tables: TableStore) {
    self.tables = tables
    resolver = StoreResolver(tables)
  }

  func references(_ expression: QueryExpression?) throws -> [RowReference] {
    var found: [RowReference] = []
    try visit(expression) { reference, _, _ in found.append(reference) }
    return found
  }

  func sorted(
    _ expression: QueryExpression?,
    _ ordering: RowOrdering,
    limit: Int?
  ) throws -> [RowReference] {
    var sorter = RowSorter(ordering, limit: limit, resolver: resolver)
    var found: [RowReference] = []
    try visit(expression) { reference, row, table in
      if try sorter.append(row, reference, of: table.descriptor) { found.append(reference) }
    }
    return sorter.sorted().map { found[$0] }
  }

  private func visit(
    _ expression: QueryExpression?,
    _ body: (RowReference, RawSpan, EntityTable) throws -> Void
  ) throws {
    for table in tables.tables(for: Goods.Item.self) {
      let filter = expression.map {
        RowFilter($0, descriptor: table.descriptor, resolver: resolver)
      }
      try tables.engine.scan(table.number) { key, layout, row in
        try table.withCurrentRow(row, layout: layout, key: key) { row in
          let reference = RowReference(table: table.number, key: key)
          if try filter?.matches(row, reference) ?? true { try body(reference, row, table) }
        }
        return .proceed
      }
    }
  }
}

/// What a fetch of one table after the other answers.
private struct ByColumns {
  let tables: TableStore

  func references(_ expression: QueryExpression) throws -> [RowReference] {
    try each(expression, for: .rows) { fetch in
      var found: [RowReference] = []
      _ = try fetch.visit { reference, _ in
        found.append(reference)
        return .proceed
      }
      return found
    }
  }

  func names(_ expression: QueryExpression) throws -> [RowReference] {
    try each(expression, for: .names) { fetch in
      var found: [RowReference] = []
      _ = try fetch.visitNames { reference in
        found.append(reference)
        return .proceed
      }
      return found
    }
  }

  func count(_ expression: QueryExpression) throws -> Int {
    try each(expression, for: .names) { [try $0.count()] }.reduce(0, +)
  }

  private func each<T>(
    _ expression: QueryExpression,
    for purpose: TableFetch.Output,
    _ body: (TableFetch) throws -> [T]
  ) throws -> [T] {
    let resolver = StoreResolver(tables)
    return try tables.tables(for: Goods.Item.self).flatMap { table in
      let plan = CandidatePlan(expression, tables.textHash)
      return try body(TableFetch(tables, table, expression, plan, for: purpose, resolver))
    }
  }
}

@Suite struct `A fetch by columns` {
  @Test(arguments: GoodsStore.Packing.allCases, 1...2 as ClosedRange<UInt64>)
  func `finds what looking at each row finds`(packing: GoodsStore.Packing, seed: UInt64) throws {
    let goods = try GoodsStore(seed: seed, packing)
    let store = try LogStore(goods.configuration, migrationPlan: nil)
    let rowByRow = RowByRow(store.tables)
    let byColumns = ByColumns(tables: store.tables)
    var random = SeededRandom(seed: seed ^ 0x5EED)
    for round in 0..<60 {
      let expression = try random.expression(depth: round % 4)
      let expected = try rowByRow.references(expression)
      let what: Comment = "seed \(seed), \(packing), round \(round): \(expression)"
      #expect(try byColumns.references(expression) == expected, what)
      #expect(try byColumns.names(expression) == expected, what)
      #expect(try byColumns.count(expression) == expected.count, what)
    }
  }

  @Test(arguments: GoodsStore.Packing.allCases, 11...11 as ClosedRange<UInt64>)
  func `with a sort and a limit finds what sorting all rows finds`(
    packing: GoodsStore.Packing,
    seed: UInt64
  ) throws {
    let goods = try GoodsStore(seed: seed, packing)
    let store = try LogStore(goods.configuration, migrationPlan: nil)
    let rowByRow = RowByRow(store.tables)
    var random = SeededRandom(seed: seed ^ 0x5EED)
    for sort in sorts(.forward) + sorts(.reverse) {
      for limit in [1, 7, 40, nil] {
        let predicate = random.next(below: 3) == 0 ? nil : random.predicate()
        var descriptor = FetchDescriptor(predicate: predicate, sortBy: sort)
        descriptor.fetchLimit = limit
        let expected = try rowByRow.sorted(
          predicate.map { try QueryExpression($0) },
          RowOrdering(sort),
          limit: limit
        )
        let what: Comment = "seed \(seed), \(packing), limit \(limit ?? 0): \(descriptor)"
        #expect(try store.tables.references(of: descriptor) == expected, what)
        #expect(try store.tables.fetch(descriptor).map(\.reference) == expected, what)
      }
    }
  }

  private func sorts(_ order: SortOrder) -> [[SortDescriptor<Goods.Item>]] {
    [
      [SortDescriptor(\.number, order: order)],
      [SortDescriptor(\.small, order: order)],
      [SortDescriptor(\.small, order: order), SortDescriptor(\.number)],
      [SortDescriptor(\.unsigned, order: order)],
      [SortDescriptor(\.amount, order: order)],
      [SortDescriptor(\.made, order: order)],
      [SortDescriptor(\.name, comparator: .lexical, order: order), SortDescriptor(\.number)],
      [SortDescriptor(\.note, order: order)],
      [SortDescriptor(\.code, order: order), SortDescriptor(\.made)],
      [SortDescriptor(\.count, order: order)],
      [SortDescriptor(\.limit, order: order)],
      [SortDescriptor(\.label, comparator: .lexical, order: order)],
      [SortDescriptor(\.score, order: order)],
      [SortDescriptor(\.title, comparator: .localizedStandard, order: order)],
    ]
  }

  @Test(arguments: GoodsStore.Packing.allCases)
  func `counts what a context has changed and not yet saved`(packing: GoodsStore.Packing) throws {
    let seed: UInt64 = 21
    let goods = try GoodsStore(seed: seed, packing)
    let context = try goods.open()
    var random = SeededRandom(seed: seed ^ 0x5EED)
    for round in 0..<16 {
      if round == 8 { try GoodsStore.change(context, &random, inserting: 40) }
      let predicate = random.predicate()
      let all = try context.fetch(FetchDescriptor<Goods.Item>())
      let expected = Set(
        all.filter { (try? predicate.evaluate($0)) ?? false }.map(\.persistentModelID)
      )
      let what: Comment = "seed \(seed), \(packing), round \(round): \(predicate)"
      var descriptor = FetchDescriptor(predicate: predicate)
      let found = try context.fetch(descriptor).map(\.persistentModelID)
      #expect(Set(found) == expected, what)
      #expect(found.count == expected.count, what)
      #expect(try context.fetchIdentifiers(descriptor) == found, what)
      #expect(try context.fetchCount(descriptor) == expected.count, what)
      descriptor.fetchOffset = 5
      descriptor.fetchLimit = 20
      let part = Array(found.dropFirst(5).prefix(20))
      #expect(try context.fetch(descriptor).map(\.persistentModelID) == part, what)
      #expect(try context.fetchIdentifiers(descriptor) == part, what)
      #expect(try context.fetchCount(descriptor) == part.count, what)
    }
  }

  @Test(arguments: GoodsStore.Packing.allCases)
  func `sees one state, though rows go while it looks`(packing: GoodsStore.Packing) throws {
    let goods = try GoodsStore(seed: 31, packing)
    let store = try LogStore(goods.configuration, migrationPlan: nil)
    let tables = store.tables
    let table = try #require(tables.tables(for: Goods.Item.self).first)
    let expression = try QueryExpression(#Predicate<Goods.Item> { $0.number < 0 })
    let expected = try ByColumns(tables: tables).references(expression)
      .filter { $0.table == table.number }
    #expect(expected.count > 100)
    let fetch = try TableFetch(
      tables,
      table,
      expression,
      CandidatePlan(expression, tables.textHash),
      for: .rows,
      StoreResolver(tables)
    )
    var found: [RowReference] = []
    _ = try fetch.visit { reference, _ in
      if found.isEmpty {
        var batch = tables.engine.makeBatch()
        for row in expected { batch.delete(row) }
        try tables.engine.commit(&batch)
        _ = try tables.engine.compact()
      }
      found.append(reference)
      return .proceed
    }
    #expect(found == expected)
    // The fetch has one view, and keeps to it; the next has another.
    #expect(try fetch.count() == expected.count)
    let next = try TableFetch(
      tables,
      table,
      expression,
      CandidatePlan(expression, tables.textHash),
      for: .count,
      StoreResolver(tables)
    )
    #expect(try next.count() == 0)
  }
}
