import LogEngine
import LogEngineTestSupport
import RowFormat
import Testing

@Suite struct `A scan by columns` {
  /// The rows of a view, put together from their columns; each may come once.
  private func rows(
    of view: ReadView,
    where conditions: [ZoneCondition] = [],
    in keys: Range<UInt64>? = nil,
    _ meanwhile: () throws -> Void = {}
  ) throws -> [UInt64: String] {
    var rows: [UInt64: String] = [:]
    try view.scanColumns(1, [2, 1], where: conditions, in: keys) { batch in
      let numbers = try batch.column(1)
      let texts = try batch.column(0)
      try batch.rows.forEach { row in
        let key = try batch.key(of: row)
        let text = texts.bytes(at: row).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(rows.updateValue("\(numbers.integers[row]) \(text)", forKey: key) == nil)
      }
      try meanwhile()
      return .proceed
    }
    return rows
  }

  @Test func `of a table without rows visits nothing`() throws {
    let store = try MemoryStore()
    #expect(try rows(of: store.engine.makeReadView()).isEmpty)
    try store.engine.scanColumns(77, [1]) { _ in
      Issue.record("a table that is not there has rows")
      return .proceed
    }
  }

  @Test(arguments: 0..<10 as Range<UInt64>)
  func `sees each row once, in the log and in packs, as of its commit`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try MemoryStore()
    try store.work(150, textLength: 300)
    var views: [ReadView] = []
    for round in 0..<12 {
      if random.next() % 2 == 0 { try store.engine.compact() }
      let keys = store.rows.keys.sorted()
      for _ in 0..<6 {
        let key = keys[Int(random.next() % UInt64(keys.count))]
        if store.rows[key] != nil { try store.commit([.update(key, Int64(round))]) }
      }
      try store.work(Int(random.next() % 20), textLength: 50 << Int(random.next() % 6))
      if random.next() % 3 == 0 { views.append(store.engine.makeReadView()) }
      if random.next() % 4 == 0 { views.removeAll() }
      for view in views + [store.engine.makeReadView()] {
        let expected = store.history[Int(view.sequence.rawValue)]
        #expect(try rows(of: view) == expected, "round \(round)")
        let low = random.next() % 400
        let range = low..<(low + random.next() % 100)
        #expect(try rows(of: view, in: range) == expected.filter { range.contains($0.key) })
      }
    }
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `sees its commit though rows change and are packed meanwhile`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try MemoryStore()
    try store.work(400, textLength: 200)
    if seed % 2 == 0 { try store.engine.compact() }
    try store.work(100, textLength: 400)
    let view = store.engine.makeReadView()
    let expected = store.rows
    let found = try rows(of: view) {
      let keys = store.rows.keys.sorted()
      let key = keys[Int(random.next() % UInt64(keys.count))]
      try store.commit([random.next() % 2 == 0 ? .delete(key) : .update(key, -5)])
      try store.work(3, textLength: 2000)
      try store.engine.compact()
    }
    #expect(found == expected)
    #expect(try rows(of: store.engine.makeReadView()) == store.rows)
  }

  @Test func `passes over blocks that cannot have what is asked for, and no others`() throws {
    let store = try MemoryStore()
    for number in 0..<600 { try store.commit([.insert(Int64(number), "text \(number)")]) }
    try store.work(60, textLength: 3000)
    try store.engine.compact()
    let view = store.engine.makeReadView()
    let all = try rows(of: view)
    let some = try rows(of: view, where: [.integer(column: 1, 40...60)])
    #expect(some.count < all.count)
    for (key, row) in store.rows where (40...60).contains(Int(row.prefix { $0 != " " }) ?? -1) {
      #expect(some[key] == row)
    }
    for (key, row) in some { #expect(store.rows[key] == row) }
  }

  @Test func `ends when it is told to`() throws {
    let store = try MemoryStore()
    try store.work(150, textLength: 300)
    try store.engine.compact()
    var count = 0
    try store.engine.scanColumns(1, []) { _ in
      count += 1
      return .stop
    }
    #expect(count == 1)
  }

  // MARK: Every type

  private static let types = ColumnType.allCases.filter { $0 != .blob }

  private func makeTable(_ engine: StorageEngine, _ types: [ColumnType], from first: Int) throws {
    var changes: [CatalogueChange] = first == 0 ? [.addTable(name: "values")] : []
    for (index, type) in types.enumerated().dropFirst(first) {
      changes.append(.addColumn(table: 1, name: "c\(index)", type: type, isNullable: true))
    }
    changes.append(.setLayout(table: 1, columns: types.indices.map { UInt16($0 + 1) }))
    try engine.apply(changes)
  }

  /// Sets some columns of a row; the others are null.
  private func fill(
    _ writer: inout RowWriter,
    _ layout: RowLayout,
    _ random: inout SeededGenerator
  ) {
    writer.begin(layout)
    for (column, type) in layout.types.enumerated() where random.next() % 3 != 0 {
      let value = random.next()
      switch type {
      case .integer: writer.set(column, integer: Int64(bitPattern: value))
      case .double, .date: writer.set(column, double: Double(value % 10_000) / 100)
      case .bool: writer.set(column, bool: value % 2 == 0)
      case .uuid: writer.set(column, uuid: (value, ~value))
      case .reference: writer.set(column, reference: RowReference(table: 1, key: value % 99 + 1))
      case .references:
        writer.append(column, references: [RowReference(table: 1, key: value % 9 + 1)])
      case .text, .bytes, .structured, .blob:
        writer.append(column, text: String(repeating: "t", count: Int(value % 40)))
      }
    }
    _ = writer.finish()
  }

  /// What a column of a row is, as bytes; `nil` for null.
  private func value(_ column: Int, of row: RawSpan, _ layout: RowLayout) -> [UInt8]? {
    if column >= layout.count || layout.isNull(column, in: row) { return nil }
    let type = layout.types[column]
    let start = type.isVariable ? 0 : layout.offset(of: column)
    let range =
      type.isVariable ? layout.range(column, in: row) : start..<(start + type.fixedWidth)
    return row.extracting(range).withUnsafeBytes { Array($0) }
  }

  private func value(at row: Int, of vector: ColumnVector) -> [UInt8]? {
    if vector.isNull(row) { return nil }
    switch vector.form {
    case .absent, .dense: return nil
    case .integers: return withUnsafeBytes(of: vector.integers[row]) { Array($0) }
    case .doubles: return withUnsafeBytes(of: vector.doubles[row]) { Array($0) }
    case .bits: return [UInt8(truncatingIfNeeded: vector.bits[row / 64] >> UInt64(row % 64) & 1)]
    case .identifiers:
      return (0..<2).flatMap { half in
        withUnsafeBytes(of: vector.identifiers[row * 2 + half]) { Array($0) }
      }
    case .codes, .bytes: return vector.bytes(at: row).withUnsafeBytes { Array($0) }
    }
  }

  @Test(arguments: [false, true])
  func `gives the values of every type, and null where a row has no such column`(
    isPacked: Bool
  ) throws {
    var random = SeededGenerator(seed: 7)
    let disk = InMemoryFileSystem()
    var options = MemoryStore.options()
    options.packs.blockRowCount = 40
    let engine = try StorageEngine.open(at: "store", options: options, fileSystem: disk)
    var writer = RowWriter()
    // The second half of the columns comes with a second layout.
    for (number, count) in [Self.types.count / 2, Self.types.count].enumerated() {
      let types = Array(Self.types.prefix(count))
      try makeTable(engine, types, from: number == 0 ? 0 : Self.types.count / 2)
      let layout = RowLayout(types)
      for key in engine.reserveKeys(1500, in: 1) {
        var batch = engine.makeBatch()
        writer.removeAll()
        fill(&writer, layout, &random)
        batch.insert(
          RowReference(table: 1, key: key),
          layout: LayoutNumber(UInt16(number + 1)),
          row: writer.bytes
        )
        try engine.commit(&batch)
      }
    }
    if isPacked { try engine.compact() }
    let layouts = [Self.types.count / 2, Self.types.count].map { count in
      RowLayout(Array(Self.types.prefix(count)))
    }
    var expected: [UInt64: [[UInt8]?]] = [:]
    try engine.scan(1) { key, layout, row in
      let rowLayout = layouts[Int(layout.rawValue) - 1]
      expected[key] = Self.types.indices.map { value($0, of: row, rowLayout) }
      return .proceed
    }
    var found: [UInt64: [[UInt8]?]] = [:]
    var lackingKeys: Set<UInt64> = []
    try engine.scanColumns(1, Self.types.indices.map { UInt16($0 + 1) }) { batch in
      for index in Self.types.indices {
        var lacking = batch.rows
        batch.keepLacking(index, in: &lacking)
        #expect(batch.isLacking(index) == !lacking.isEmpty)
        if index < Self.types.count / 2 { #expect(lacking.isEmpty) }
        if index == Self.types.count - 1 {
          try lacking.forEach { lackingKeys.insert(try batch.key(of: $0)) }
        }
      }
      let vectors = try Self.types.indices.map { try batch.column($0) }
      for vector in vectors { #expect(vector.count == batch.rows.count) }
      try batch.rows.forEach { row in
        found[try batch.key(of: row)] = vectors.map { value(at: row, of: $0) }
      }
      return .proceed
    }
    #expect(found.count == 3000)
    #expect(found == expected)
    #expect(lackingKeys == Set(1...1500))
  }
}
