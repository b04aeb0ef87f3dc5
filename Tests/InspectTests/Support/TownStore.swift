import LogEngine
import RowFormat

/// A store of towns and notes about them, in memory, made the same way each time.
///
/// Commits: 1–2 the schema, 3 three towns and a note, 4 a town founded later, 5 a new name, 6 a deletion,
/// 7 a photo in a file of its own and one in the row, 8 a column more, 9 a row in the new layout.
final class TownStore {
  let disk: SteadyFileSystem
  static let storePath = "towns.store"
  let path = TownStore.storePath

  static let towns = RowLayout([.text, .date, .integer])
  static let townsWithMayor = RowLayout([.text, .date, .integer, .text])
  static let notes = RowLayout([.references, .bytes])
  static let photos = RowLayout([.blob, .reference])

  init(disk: SteadyFileSystem = SteadyFileSystem()) throws {
    self.disk = disk
    try write { engine in
      try applySchema(engine)
      try commitRows(engine)
    }
  }

  static func options() -> EngineOptions {
    var options = EngineOptions()
    options.background = .caller
    options.smallestSegment = 16 << 10
    options.largestSegment = 32 << 10
    return options
  }

  /// Opens the store for writing, does something, and closes it.
  func write<R>(_ body: (StorageEngine) throws -> R) throws -> R {
    let engine = try StorageEngine.open(at: path, options: Self.options(), fileSystem: disk)
    let result = try body(engine)
    try engine.close()
    return result
  }

  /// Copies the store, as a program that reads only the files would.
  func copy(to path: String) throws {
    let options = {
      var options = Self.options(); options.mode = .readOnly; return options
    }()
    let engine = try StorageEngine.open(at: self.path, options: options, fileSystem: disk)
    try engine.backup(to: path)
  }

  func segmentPath(_ number: Int) -> String {
    "\(path)/log/\(String(repeating: "0", count: 15))\(number).seg"
  }
}

// MARK: Commits

extension TownStore {
  private func applySchema(_ engine: StorageEngine) throws {
    try engine.apply([.setMetadata(key: "store.identifier", value: Array("TOWNS".utf8))])
    try engine.apply([
      .addTable(name: "Town"),
      .addColumn(table: 1, name: "name", type: .text, isNullable: false),
      .addColumn(table: 1, name: "founded", type: .date, isNullable: true),
      .addColumn(table: 1, name: "_rank", type: .integer, isNullable: true),
      .setLayout(table: 1, columns: [1, 2, 3]),
      .addTable(name: "Note"),
      .addColumn(table: 2, name: "towns", type: .references, isNullable: false),
      .addColumn(table: 2, name: "picture", type: .bytes, isNullable: true),
      .setLayout(table: 2, columns: [1, 2]),
      .addTable(name: "_Keys"),
      .addColumn(table: 3, name: "next", type: .integer, isNullable: false),
      .setLayout(table: 3, columns: [1]),
      .addTable(name: "Photo"),
      .addColumn(table: 4, name: "image", type: .blob, isNullable: false),
      .addColumn(table: 4, name: "town", type: .reference, isNullable: true),
      .setLayout(table: 4, columns: [1, 2]),
    ])
  }

  private func commitRows(_ engine: StorageEngine) throws {
    try commit(engine, by: "importer") { batch in
      for (key, name) in [(1, "Lisbon"), (2, "Porto"), (3, "Faro")] as [(UInt64, String)] {
        Self.town(key, name).map { batch.insert(Self.town(key), layout: .init(1), row: $0) }
      }
      let note = Self.row(Self.notes) { row in
        row.append(0, references: [Self.town(2), Self.town(1)])
        let picture = [UInt8](repeating: 0xAB, count: 20)
        row.append(1, bytes: picture.span.bytes)
      }
      note.map { batch.insert(RowReference(table: 2, key: 1), layout: .init(1), row: $0) }
      let keys = Self.row(RowLayout([.integer])) { $0.set(0, integer: 9) }
      keys.map { batch.insert(RowReference(table: 3, key: 1), layout: .init(1), row: $0) }
    }
    try update(2, column: 1, engine, by: "ann") { Self.town(2, "Porto", founded: -1_000_000_000) }
    try update(2, column: 0, engine, by: nil) {
      Self.town(2, "Invicta", founded: -1_000_000_000)
    }
    try commit(engine, by: "ann") { $0.delete(Self.town(3)) }
    try commitPhotos(engine)
    try engine.apply([
      .addColumn(table: 1, name: "mayor", type: .text, isNullable: true),
      .setLayout(table: 1, columns: [1, 2, 3, 4]),
    ])
    try commit(engine, by: "importer") { batch in
      let row = Self.row(Self.townsWithMayor) { row in
        row.append(0, text: "Braga, \"Roman\"")
        row.append(3, text: "")
      }
      row.map { batch.insert(Self.town(4), layout: .init(2), row: $0) }
    }
  }

  private func commitPhotos(_ engine: StorageEngine) throws {
    try commit(engine, by: nil) { batch in
      let bytes = [UInt8](repeating: 0x50, count: 5000)
      let blob = try batch.addBlob(bytes.span.bytes)
      let first = Self.row(Self.photos) { row in
        row.append(0, blob: blob)
        row.set(1, reference: Self.town(1))
      }
      first.map { batch.insert(RowReference(table: 4, key: 1), layout: .init(1), row: $0) }
      let second = Self.row(Self.photos) { row in
        row.append(0, inlineBlob: bytes.span.bytes.extracting(0..<40))
        // Nobody keeps the store's rows from pointing at what is gone.
        row.set(1, reference: Self.town(3))
      }
      second.map { batch.insert(RowReference(table: 4, key: 2), layout: .init(1), row: $0) }
    }
  }

  /// Adds so many towns, one a commit, with names of so many bytes.
  func addTowns(_ count: Int, nameByteCount: Int = 12, to engine: StorageEngine) throws {
    for _ in 0..<count {
      let key = engine.reserveKeys(1, in: 1).lowerBound
      try commit(engine, by: "builder") { batch in
        let name = String(repeating: "x", count: nameByteCount)
        let row = Self.row(Self.townsWithMayor) { $0.append(0, text: name) }
        row.map { batch.insert(Self.town(key), layout: .init(2), row: $0) }
      }
    }
  }

  private func commit(
    _ engine: StorageEngine,
    by author: String?,
    _ fill: (inout CommitBatch) throws -> Void
  ) throws {
    disk.advance(bySeconds: 1)
    var batch = engine.makeBatch()
    batch.author = author
    try fill(&batch)
    try engine.commit(&batch)
    engine.performBackgroundWork()
  }

  func update(
    _ key: UInt64,
    column: Int,
    _ engine: StorageEngine,
    by author: String?,
    _ row: () -> Row
  ) throws {
    var changed = ColumnSet()
    changed.insert(column)
    let row = row()
    try commit(engine, by: author) { batch in
      row.map {
        batch.update(Self.town(key), layout: .init(1), changed: changed, row: $0)
      }
    }
  }
}

// MARK: Rows

extension TownStore {
  /// The bytes of a row.
  struct Row {
    let bytes: [UInt8]
    func map(_ body: (RawSpan) -> Void) { body(bytes.span.bytes) }
  }

  static func town(_ key: UInt64) -> RowReference { RowReference(table: 1, key: key) }

  static func town(_ key: UInt64, _ name: String, founded: Double? = nil) -> Row {
    row(towns) { row in
      row.append(0, text: name)
      if let founded { row.set(1, double: founded) }
      row.set(2, integer: Int64(key))
    }
  }

  static func row(_ layout: RowLayout, _ fill: (inout RowWriter) -> Void) -> Row {
    var writer = RowWriter()
    writer.begin(layout)
    fill(&writer)
    let range = writer.finish()
    let bytes = writer.bytes.extracting(range)
    return Row(bytes: bytes.withUnsafeBytes { Array($0) })
  }
}
