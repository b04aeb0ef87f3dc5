import Foundation
import Terminal

/// A row type of a CSV file whose first line names the columns.
protocol CSVRow {
  /// The places in the file of the columns that this type reads.
  associatedtype Columns

  static func columns(in header: CSVHeader) throws(ToolError) -> Columns
  static func read(_ record: borrowing CSVReader, _ columns: Columns) throws(RowProblem) -> Self
}

/// The contents of a CSV file: its good rows, and the faults of the others.
struct CSVTable<Row: CSVRow> {
  private(set) var rows: [Row] = []
  private(set) var badRows: BadRows

  /// Reads a whole file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - problem: Looks at each row once more; what it returns is the reason to skip the row.
  /// - Throws: ``ToolError`` if the file cannot be read or its header lacks a column. A bad row is
  ///   no error: it is skipped and listed.
  init(
    contentsOf path: String,
    checking problem: (Row, _ line: Int) -> String? = { _, _ in nil }
  ) throws(ToolError) {
    try self.init([UInt8](try Self.contents(of: path)), path: path, checking: problem)
  }

  init(
    _ bytes: [UInt8],
    path: String,
    checking problem: (Row, _ line: Int) -> String? = { _, _ in nil }
  ) throws(ToolError) {
    badRows = BadRows(path: path)
    var reader = CSVReader(bytes)
    let header = try CSVHeader(of: &reader, path: path)
    let columns = try Row.columns(in: header)
    rows.reserveCapacity(bytes.count / 80)
    while let record = reader.next() {
      if case .malformed(let reason) = record {
        badRows.append(reason, line: reader.line)
        continue
      }
      guard reader.count == header.count else {
        let reason = "expected \(header.count) fields, found \(reader.count)"
        badRows.append(reason, line: reader.line)
        continue
      }
      do {
        let row = try Row.read(reader, columns)
        if let reason = problem(row, reader.line) {
          badRows.append(reason, line: reader.line)
        } else {
          rows.append(row)
        }
      } catch {
        badRows.append(error.description, line: reader.line)
      }
    }
  }

  private static func contents(of path: String) throws(ToolError) -> Data {
    do {
      return try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      let isThere = FileManager.default.fileExists(atPath: path)
      throw ToolError(
        "the CSV file cannot be read",
        place: path,
        expected: "a readable file",
        found: isThere ? error.localizedDescription : "nothing of that name",
        advice: "check the path and its permissions"
      )
    }
  }
}

/// The first line of a CSV file.
struct CSVHeader {
  private let path: String
  private let names: [String]

  init(of reader: inout CSVReader, path: String) throws(ToolError) {
    self.path = path
    guard reader.next() == .fields else {
      throw ToolError(
        "the CSV file has no header",
        place: path,
        expected: "a first line with the names of the columns",
        found: "nothing that can be read as one"
      )
    }
    names = (0..<reader.count).map { reader.text($0) }
  }

  var count: Int { names.count }

  /// Finds a column that must be there.
  func column(_ name: String) throws(ToolError) -> CSVColumn {
    guard let index = names.firstIndex(of: name) else {
      throw ToolError(
        "the CSV file lacks a column",
        place: "\(path):1",
        expected: name,
        found: names.joined(separator: ", "),
        advice: "give a file with the columns of nycflights13"
      )
    }
    return CSVColumn(name: name, index: index)
  }
}

/// A column of one CSV file: its name for people, its place for the reader.
struct CSVColumn {
  let name: String
  let index: Int
}
