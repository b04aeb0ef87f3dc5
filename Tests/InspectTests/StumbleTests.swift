import LogEngine
import LogEngineTestSupport
import LogTools
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

@Suite struct `A command that is misspelt` {
  @Test(arguments: [
    (["sumary", "s.store"], "summary"), (["verfy"], "verify"),
    (["histroy", "--last", "2"], "history"),
    (["--format", "summary"], nil), (["summary"], nil), (["quicksilver"], nil), ([], nil),
  ])
  func `is answered with the one that was perhaps meant`(arguments: [String], expected: String?) {
    #expect(Inspect.suggestion(for: arguments) == expected)
  }
}

@Suite struct `Rows older than a column` {
  private func store() throws -> InMemoryFileSystem {
    let disk = InMemoryFileSystem()
    try FuzzedStore.image().write(to: disk)
    return disk
  }

  @Test func `show the same columns as the others`() throws {
    let session = Session(disk: try store())
    let result = try session.run(
      "dump",
      FuzzedStore.path,
      "--entity",
      "Thing",
      "--format",
      "csv"
    )
    let lines = result.output.split(separator: "\n")
    #expect(lines.first?.hasSuffix(",later") == true)
    let json = try session.run(
      "dump",
      FuzzedStore.path,
      "--entity",
      "Thing",
      "--format",
      "ndjson"
    )
    let rows = json.output.split(separator: "\n")
    #expect(rows.count > 40)
    #expect(rows.allSatisfy { $0.contains(#""later":"#) })
    // The oldest were written before there was such a column.
    #expect(rows.first?.contains(#""later":null"#) == true)
    #expect(rows.last?.contains(#""later":"later "#) == true)
  }

  @Test func `show what their store noted for them`() throws {
    let disk = try store()
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: FuzzedStore.path, options: options, fileSystem: disk)
    var writer = RowWriter()
    writer.begin(RowLayout([.text]))
    writer.append(0, text: "the default of then")
    let range = writer.finish()
    let value = writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
    try engine.apply([.setMetadata(key: "fill.1.12", value: value)])
    try engine.close()
    let result = try Session(disk: disk).run("get", FuzzedStore.path, "Thing", "2")
    #expect(result.output.contains("the default of then"))
  }

  @Test func `with a list that is kept at its members say so`() {
    #expect(CellValue.null(of: .references).text != CellValue.null(of: .text).text)
    #expect(CellValue.null(of: .references).json == .null)
  }
}

@Suite struct `Exported values` {
  @Test func `are files with the bytes of the values, and replace none`() throws {
    let disk = InMemoryFileSystem()
    try FuzzedStore.image().write(to: disk)
    let session = Session(disk: disk)
    let result = try session.run("blobs", FuzzedStore.path, "--export", "out/")
    #expect(result.error == nil)
    let names = try #require(try disk.list("out")).sorted()
    #expect(names.contains("Thing-7.c10"))
    for name in names {
      let file = try disk.open("out/" + name, .read)
      #expect(try file.size() == 300)
    }
    let again = try session.run("blobs", FuzzedStore.path, "--export", "out")
    #expect(again.error?.what == "the destination already exists")
  }

  @Test(arguments: [
    ("Trip-7.photo", "Trip-7.photo"), ("../etc-1.x", "_._etc-1.x"), (".hidden-1.a", "_hidden-1.a"),
    ("Fähre-1.a b", "Fähre-1.a_b"), ("a/b\0-1.c", "a_b_-1.c"),
  ])
  func `have names that lead nowhere else`(name: String, expected: String) {
    #expect(BlobExporter.fileName(name) == expected)
  }
}

@Suite struct `A compaction's count of rows` {
  @Test(arguments: [1, 2, 3, 5])
  func `is of those in the new packs, each once`(share: Int) throws {
    let disk = InMemoryFileSystem()
    var options = EngineOptions()
    options.background = .caller
    options.smallestSegment = 16 << 10
    options.largestSegment = 32 << 10
    let engine = try StorageEngine.open(at: "s.store", options: options, fileSystem: disk)
    try engine.apply([
      .addTable(name: "Thing"),
      .addColumn(table: 1, name: "text", type: .text, isNullable: false),
      .setLayout(table: 1, columns: [1]),
    ])
    let layout = RowLayout([.text])
    func row(_ number: UInt64) -> [UInt8] {
      var writer = RowWriter()
      writer.begin(layout)
      writer.append(0, text: String(repeating: "\(number) ", count: 20))
      let range = writer.finish()
      return writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
    }
    for key in 1...400 as ClosedRange<UInt64> {
      _ = engine.reserveKeys(1, in: 1)
      var batch = engine.makeBatch()
      let reference = RowReference(table: 1, key: key)
      batch.insert(reference, layout: LayoutNumber(1), row: row(key).span.bytes)
      try engine.commit(&batch)
      engine.performBackgroundWork()
    }
    try engine.compact()
    for key in stride(from: 1, through: 400, by: share) {
      var batch = engine.makeBatch()
      var changed = ColumnSet()
      changed.insert(0)
      batch.update(
        RowReference(table: 1, key: UInt64(key)),
        layout: LayoutNumber(1),
        changed: changed,
        row: row(UInt64(key) + 1000).span.bytes
      )
      try engine.commit(&batch)
      engine.performBackgroundWork()
    }
    try engine.close()
    let result = try Session(disk: disk).run("compact", "s.store", "--format", "json")
    let inspection = StoreInspection(at: "s.store", fileSystem: disk)
    let packs = try inspection.packs().filter(\.isNamed)
    let total = packs.reduce(0) { $0 + ($1.content?.rowCount ?? 0) }
    let field = try #require(result.output.split(separator: ",").first { $0.contains("\"rows\":") })
    let rowCount = try #require(field.split(separator: ":").last.flatMap { Int($0) })
    #expect((400 / share)...min(total, 400) ~= rowCount)
  }
}
