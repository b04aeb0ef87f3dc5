import Foundation
import LogEngine
import RowFormat
import Testing

@Suite struct `A store that is opened again` {
  enum End: CaseIterable { case closed, killed }

  @Test(arguments: End.allCases)
  func `has every row as it was last committed`(end: End) throws {
    let store = try SmallStore()
    let keys = try store.insert((1...50).map { (Int64($0), "row \($0)") })
    for round in 1...20 {
      for key in keys.prefix(10) {
        try store.update(key, number: Int64(round * 100) + Int64(key), text: "row \(key)")
      }
    }
    for key in keys.suffix(5) { try store.delete(key) }
    let expected = try store.rows()
    #expect(expected.count == 45)
    #expect(expected[keys[0]] == "\(2000 + keys[0]) row \(keys[0])")
    if end == .closed { try store.close() } else { store.abandon() }
    try store.open()
    #expect(try store.rows() == expected)
    #expect(store.engine?.rowCount(of: 1) == 45)
    #expect(store.engine?.catalogue.table(named: "numbers")?.column(named: "text")?.number == 2)
  }

  @Test func `gives out keys that were never used`() throws {
    let store = try SmallStore()
    let keys = try store.insert([(1, "a"), (2, "b")])
    try store.delete(keys[1])
    try store.reopen()
    let next = try store.insert([(3, "c")])
    #expect(next[0] > keys[1])
  }

  @Test func `takes a commit larger than a segment`() throws {
    let store = try SmallStore()
    let text = String(repeating: "long ", count: 20_000)
    let keys = try store.insert([(1, text), (2, "short")])
    try store.reopen()
    #expect(try store.rows() == [keys[0]: "1 \(text)", keys[1]: "2 short"])
  }

  @Test func `again and again does not grow`() throws {
    let store = try SmallStore()
    try store.insert([(1, "only")])
    try store.close()
    func size() throws -> Int {
      try store.segments.reduce(0) {
        $0 + (try FileManager.default.attributesOfItem(atPath: $1)[.size] as? Int ?? 0)
      }
    }
    let before = try size()
    for _ in 0..<20 {
      try store.open()
      try store.close()
    }
    #expect(try size() < before + 64 * 20 + 8192)
  }

  @Test func `is refused while it is open`() throws {
    let store = try SmallStore()
    #expect(throws: StorageError.self) { try StorageEngine.open(at: store.path) }
  }

  @Test func `can be read beside its writer`() throws {
    let store = try SmallStore()
    try store.insert([(1, "a")])
    var options = EngineOptions()
    options.mode = .readOnly
    let reader = try StorageEngine.open(at: store.path, options: options)
    #expect(reader.rowCount(of: 1) == 1)
    var batch = reader.makeBatch()
    batch.delete(RowReference(table: 1, key: 1))
    #expect(throws: StorageError.self) { try reader.commit(&batch) }
  }

  @Test func `is not made where something else is`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "other-\(UUID().uuidString)"
    )
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data("precious".utf8).write(to: folder.appending(path: "notes.txt"))
    #expect(throws: StorageError.self) { try StorageEngine.open(at: folder.path) }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(left.contains("notes.txt"))
  }
}
