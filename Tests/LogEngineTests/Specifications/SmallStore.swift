import Foundation
import LogEngine
import RowFormat

/// A store on disk, in a folder of its own, with one table of a number and a text.
final class SmallStore {
  let path: String
  let layout = RowLayout([.integer, .text])
  private(set) var engine: StorageEngine?
  private var isTemporary = false
  /// The number of pages of a checkpoint up to which they are checked at the opening.
  var checkedPageLimit = EngineOptions().checkedPageLimit

  convenience init() throws {
    let name = "engine-\(UUID().uuidString)"
    try self.init(at: FileManager.default.temporaryDirectory.appending(path: name).path)
    isTemporary = true
  }

  /// Makes a store whose files outlive this object.
  init(at path: String) throws {
    self.path = path
    try open()
    try engine?.apply([
      .addTable(name: "numbers"),
      .addColumn(table: 1, name: "number", type: .integer, isNullable: false),
      .addColumn(table: 1, name: "text", type: .text, isNullable: true),
      .setLayout(table: 1, columns: [1, 2]),
    ])
  }

  deinit {
    try? engine?.close()
    if isTemporary { try? FileManager.default.removeItem(atPath: path) }
  }

  func open() throws {
    var options = EngineOptions()
    options.smallestSegment = 16 << 10
    options.largestSegment = 32 << 10
    options.checkedPageLimit = checkedPageLimit
    engine = try StorageEngine.open(at: path, options: options)
  }

  /// Ends the store like a killed process: nothing more is written to the log.
  func abandon() { engine = nil }

  func close() throws {
    try engine?.close()
    engine = nil
  }

  func reopen() throws {
    try close()
    try open()
  }

  // MARK: Rows

  private func row(_ number: Int64, _ text: String) -> [UInt8] {
    var writer = RowWriter()
    writer.begin(layout)
    writer.set(0, integer: number)
    writer.append(1, text: text)
    let range = writer.finish()
    return writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
  }

  /// Inserts rows in one commit and returns their keys.
  @discardableResult
  func insert(_ rows: [(Int64, String)]) throws -> [UInt64] {
    guard let engine else { return [] }
    var batch = engine.makeBatch()
    var keys: [UInt64] = []
    for (number, text) in rows {
      let key = engine.reserveKeys(1, in: 1).lowerBound
      keys.append(key)
      row(number, text).withUnsafeBytes {
        batch.insert(RowReference(table: 1, key: key), layout: LayoutNumber(1), row: $0.bytes)
      }
    }
    _ = try engine.commit(&batch)
    return keys
  }

  /// Gives a row another number.
  func update(_ key: UInt64, number: Int64, text: String) throws {
    guard let engine else { return }
    var batch = engine.makeBatch()
    var changed = ColumnSet()
    changed.insert(0)
    row(number, text).withUnsafeBytes {
      batch.update(
        RowReference(table: 1, key: key),
        layout: LayoutNumber(1),
        changed: changed,
        row: $0.bytes
      )
    }
    _ = try engine.commit(&batch)
  }

  func delete(_ key: UInt64) throws {
    guard let engine else { return }
    var batch = engine.makeBatch()
    batch.delete(RowReference(table: 1, key: key))
    _ = try engine.commit(&batch)
  }

  /// Every row, by key.
  func rows() throws -> [UInt64: String] {
    var rows: [UInt64: String] = [:]
    try engine?.scan(1) { key, _, row in
      rows[key] = "\(layout.integer(0, in: row)) \(layout.text(1, in: row))"
      return .proceed
    }
    return rows
  }

  // MARK: Files

  /// The files of the log, in order.
  var segments: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path + "/log")) ?? []
    return names.sorted().map { "\(path)/log/\($0)" }
  }
}
