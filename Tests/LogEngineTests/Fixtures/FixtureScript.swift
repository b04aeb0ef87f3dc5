import LogEngine
import LogEngineTestSupport
import RowFormat

/// Makes a store that has one of everything the format can say.
///
/// What it makes today is a fixture from then on: a change here is seen only in the fixtures of a later
/// version.
struct FixtureScript {
  private let engine: StorageEngine
  private static let layout = RowLayout(ColumnType.allCases)

  static let path = "/store"

  private init(on fileSystem: SimulatedFileSystem) throws {
    engine = try StorageEngine.open(at: Self.path, options: Self.options, fileSystem: fileSystem)
  }

  private static var options: EngineOptions {
    var options = EngineOptions()
    options.background = .caller
    options.reads = .copied
    options.smallestSegment = 16 << 10
    options.largestSegment = 16 << 10
    options.longestChain = 3
    options.application = "fixtures"
    return options
  }

  /// A store that was closed.
  static func closedStore() throws -> Disk {
    let fileSystem = SimulatedFileSystem(seed: 2001)
    let script = try FixtureScript(on: fileSystem)
    try script.makeTables()
    try script.makeRows()
    try script.changeRows()
    try script.changeTables()
    try script.engine.close()
    return fileSystem.disk
  }

  /// The same store, opened again, written to and left in the middle of a commit.
  static func killedStore() throws -> Disk {
    let fileSystem = SimulatedFileSystem(seed: 2002, disk: try closedStore())
    let script = try FixtureScript(on: fileSystem)
    for number in 1...30 {
      try script.commit { $0.insert(Self.reference(2, UInt64(number + 9)), Self.plain(number)) }
      // Now and then the next segment is made ready, and is there without a header.
      script.engine.performBackgroundWork()
    }
    var disk = fileSystem.disk
    tearLastCommit(of: &disk)
    return disk
  }

  /// A store that was compacted twice, and closed.
  ///
  /// It has rows in packs, in the log, and in both; a value in a file of its own; and ended rows that only
  /// packs remember.
  static func compactedStore() throws -> Disk {
    let fileSystem = SimulatedFileSystem(seed: 2003)
    let script = try FixtureScript(on: fileSystem)
    try script.makeTables()
    try script.makeRows()
    try script.addBlob(to: 5)
    try script.changeRows()
    try script.endSegment(6)
    try script.engine.compact()
    try script.commit { batch in
      batch.update(Self.reference(2, 4), ColumnSet(rawValue: 1), Self.plain(44, 4))
      batch.delete(Self.reference(2, 5))
      batch.insert(Self.reference(2, 10), Self.plain(10))
    }
    try script.changeTables()
    try script.endSegment(7)
    try script.engine.compact()
    // These stand on rows of packs.
    try script.commit { batch in
      batch.update(Self.reference(2, 6), ColumnSet(rawValue: 1), Self.plain(66, 6))
      batch.delete(Self.reference(2, 7))
      batch.update(Self.reference(1, 1), ColumnSet(rawValue: 1 << 6), Self.row { _ in })
    }
    try script.engine.close()
    return fileSystem.disk
  }

  /// Takes the last bytes from the log, as a power cut does.
  private static func tearLastCommit(of disk: inout Disk) {
    let segments = disk.paths.filter { $0.hasSuffix(".seg") }
    guard let path = segments.last(where: { disk.image(of: $0)?.bytes(0..<1) != [0] }),
      let image = disk.image(of: path),
      let last = image.bytes(0..<image.size).lastIndex(where: { $0 != 0 })
    else { return }
    Damage(path: path, kind: .zero((last - 12)..<(last + 1))).apply(to: &disk)
  }
}

// MARK: Steps

extension FixtureScript {
  private func makeTables() throws {
    var changes: [CatalogueChange] = [.addTable(name: "Everything")]
    for type in ColumnType.allCases {
      changes.append(.addColumn(table: 1, name: "\(type)", type: type, isNullable: true))
    }
    changes.append(.setLayout(table: 1, columns: Array(1...UInt16(ColumnType.allCases.count))))
    try engine.apply(changes)
    try engine.apply([
      .addTable(name: "Pläin"),
      .addColumn(table: 2, name: "number", type: .integer, isNullable: false),
      .addColumn(table: 2, name: "text", type: .text, isNullable: true),
      .setLayout(table: 2, columns: [1, 2]),
      .addTable(name: "Doomed"),
      .addColumn(table: 3, name: "number", type: .integer, isNullable: false),
      .setLayout(table: 3, columns: [1]),
      .setMetadata(key: "schema", value: [1, 2, 3]),
    ])
  }

  private func makeRows() throws {
    try commit(author: "fixture") { batch in
      batch.insert(Self.reference(1, 1), Self.everything(1, references: 3))
      batch.insert(Self.reference(1, 2), Self.row { _ in })
      batch.insert(Self.reference(1, 3), Self.everything(-3, references: 100))
    }
    try commit { batch in
      for key in 1...9 { batch.insert(Self.reference(2, UInt64(key)), Self.plain(key)) }
      var writer = RowWriter()
      writer.begin(RowLayout([.integer]))
      writer.set(0, integer: 7)
      _ = writer.finish()
      batch.insert(Self.reference(3, 1), writer)
    }
    // So long that its ends take four bytes; of zeros, which a fixture leaves out.
    try commit { batch in
      let row = Self.row { writer in
        writer.append(6, text: "wide")
        writer.append(7, bytes: [UInt8](repeating: 0, count: 70_000).span.bytes)
      }
      batch.insert(Self.reference(1, 4), row)
    }
  }

  private func changeRows() throws {
    // Deltas upon deltas, then a full image, then a delta again.
    for number in 1...6 {
      try commit { $0.update(Self.reference(2, 1), ColumnSet(rawValue: 1), Self.plain(number, 1)) }
    }
    // A list that grows by one is spliced.
    try commit { $0.update(Self.reference(1, 3), .all, Self.everything(-3, references: 101)) }
    try commit { batch in
      batch.update(Self.reference(1, 1), ColumnSet(rawValue: 1 << 6), Self.row { _ in })
      batch.delete(Self.reference(2, 2))
    }
  }

  private func changeTables() throws {
    try engine.apply([.renameTable(2, to: "Plain"), .removeTable(3)])
    try engine.apply([
      .renameColumn(table: 2, column: 2, to: "title"),
      .addColumn(table: 2, name: "flag", type: .bool, isNullable: false),
      .setLayout(table: 2, columns: [3, 2]),
      .retireColumn(table: 2, column: 1),
    ])
    var writer = RowWriter()
    writer.begin(RowLayout([.bool, .text]))
    writer.set(0, bool: true)
    writer.append(1, text: "in a later layout")
    _ = writer.finish()
    var batch = engine.makeBatch()
    batch.update(
      Self.reference(2, 3),
      layout: LayoutNumber(2),
      changed: .all,
      row: writer.bytes
    )
    try engine.commit(&batch)
  }

  /// Writes a value of a row to a file of its own.
  private func addBlob(to key: UInt64) throws {
    var batch = engine.makeBatch()
    let value = [UInt8](repeating: 0xB1, count: 300)
    let blob = try batch.addBlob(value.span.bytes)
    let row = Self.row { $0.append(10, blob: blob) }
    batch.insert(Self.reference(1, key), row)
    try engine.commit(&batch)
  }

  /// Fills the segment with a row of zeros, which a fixture leaves out, so that the next commit begins another.
  private func endSegment(_ key: UInt64) throws {
    for part in 0..<2 {
      try commit { batch in
        let row = Self.row { writer in
          writer.append(7, bytes: [UInt8](repeating: 0, count: 20_000).span.bytes)
        }
        batch.insert(Self.reference(1, key * 10 + UInt64(part)), row)
      }
      engine.performBackgroundWork()
    }
  }

  private func commit(author: String? = nil, _ fill: (inout CommitBatch) -> Void) throws {
    var batch = engine.makeBatch()
    batch.author = author
    fill(&batch)
    try engine.commit(&batch)
  }
}

// MARK: Rows

extension FixtureScript {
  private static func reference(_ table: UInt16, _ key: UInt64) -> RowReference {
    RowReference(table: table, key: key)
  }

  private static func row(_ fill: (inout RowWriter) -> Void) -> RowWriter {
    var writer = RowWriter()
    writer.begin(layout)
    fill(&writer)
    _ = writer.finish()
    return writer
  }

  private static func everything(_ number: Int64, references count: UInt64) -> RowWriter {
    row { writer in
      writer.set(0, integer: number)
      writer.set(1, double: Double(number) / 3)
      writer.set(2, bool: number > 0)
      writer.set(3, double: 123_456.75)
      writer.set(4, uuid: (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908))
      writer.set(5, reference: reference(2, 1))
      writer.append(6, text: "naïve café ☕ \(number)")
      writer.append(7, bytes: ([0, 1, 2, 0xFF] as [UInt8]).span.bytes)
      writer.append(8, references: (1...count).map { reference(2, $0) })
      writer.append(9, bytes: ([0xA1, 0x61, 0x78, 0x01] as [UInt8]).span.bytes)
      // A blob that stands in its row begins with a zero.
      writer.append(10, bytes: ([0, 9, 8, 7] as [UInt8]).span.bytes)
    }
  }

  private static func plain(_ number: Int, _ key: Int? = nil) -> RowWriter {
    var writer = RowWriter()
    writer.begin(RowLayout([.integer, .text]))
    writer.set(0, integer: Int64(number))
    writer.append(1, text: "row \(key ?? number) " + String(repeating: "·", count: 90))
    _ = writer.finish()
    return writer
  }
}

extension CommitBatch {
  fileprivate mutating func insert(_ reference: RowReference, _ row: borrowing RowWriter) {
    insert(reference, layout: LayoutNumber(1), row: row.bytes)
  }

  fileprivate mutating func update(
    _ reference: RowReference,
    _ changed: ColumnSet,
    _ row: borrowing RowWriter
  ) {
    update(reference, layout: LayoutNumber(1), changed: changed, row: row.bytes)
  }
}
