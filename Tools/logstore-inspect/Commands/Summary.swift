import ArgumentParser
import Foundation
import LogEngine
import RowFormat
import Terminal

/// Shows what a store holds, in a screenful.
struct Summary: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows what a store holds: entities, rows, columns, size.",
    discussion: """
      EXAMPLES:
        logstore-inspect summary trips.store
        logstore-inspect summary trips.store --columns

      \(ExitStatus.help)
      """
  )

  @Argument(help: "The folder of the store.")
  var path: String

  @Flag(help: "Also list the columns of each entity.")
  var columns = false

  @Flag(help: "Also tables and columns the store keeps for itself, and columns no longer in use.")
  var all = false

  func run() throws {
    var output = OutputBuffer()
    try write(to: &output)
  }

  /// Prints the summary.
  func write(to output: inout OutputBuffer) throws(ToolError) {
    let store = try InspectedStore(path, all ? .all : .declared)
    let sections =
      [[path], storeLines(store), tableLines(store)] + (columns ? columnLines(store) : [])
    for (index, lines) in sections.enumerated() {
      if index > 1 { output.writeLine("") }
      lines.forEach { output.writeLine($0) }
    }
    output.flush()
  }

  private func storeLines(_ store: InspectedStore) -> [String] {
    var table = TextTable([.init(""), .init("")])
    if let identifier = store.catalogue.metadata["store.identifier"] {
      table.append(["  identifier", String(decoding: identifier, as: UTF8.self)])
    }
    table.append(["  last commit", store.engine.lastCommit.rawValue.grouped])
    let files = FileSizes(under: path)
    table.append([
      "  on disk",
      "\(files.byteCount.byteCount) in \(files.count) \(files.count == 1 ? "file" : "files")",
    ])
    return table.lines
  }

  private func tableLines(_ store: InspectedStore) -> [String] {
    var table = TextTable([.init("entity"), .init("rows", .right), .init("columns", .right)])
    for definition in store.tables {
      table.append([
        definition.name, store.engine.rowCount(of: definition.number).grouped,
        store.columns(of: definition).count.grouped,
      ])
    }
    return table.lines
  }

  private func columnLines(_ store: InspectedStore) -> [[String]] {
    store.tables.map { definition in
      var table = TextTable([.init(""), .init("")])
      for column in store.columns(of: definition) {
        var notes = "\(column.type)"
        if column.isNullable { notes += ", optional" }
        if column.isRetired { notes += ", no longer in use" }
        table.append(["  " + column.name, notes])
      }
      return [definition.name] + table.lines
    }
  }
}

/// The files of a folder, counted.
struct FileSizes {
  private(set) var count = 0
  private(set) var byteCount = 0

  init(under path: String) {
    let folder = URL(fileURLWithPath: path)
    let keys: Set<URLResourceKey> = [.isRegularFileKey, .fileSizeKey]
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: Array(keys))
    while let file = files?.nextObject() as? URL {
      // A file that a writer removes meanwhile is no longer part of the store.
      guard let values = try? file.resourceValues(forKeys: keys), values.isRegularFile == true
      else { continue }
      count += 1
      byteCount += values.fileSize ?? 0
    }
  }
}
