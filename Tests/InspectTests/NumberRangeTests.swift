import LogEngine
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

/// A table with a column for each type of number that a store notes, and one of which it says nothing.
@Suite struct `Numbers of an import` {
  private let disk = SteadyFileSystem()
  private let session: Session

  static let types = [
    "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
    "Float", "Double",
  ]

  init() throws {
    session = Session(disk: disk)
    var options = EngineOptions()
    options.background = .caller
    let engine = try StorageEngine.open(at: "t.store", options: options, fileSystem: disk)
    var changes: [CatalogueChange] = [.addTable(name: "Reading")]
    for (index, type) in Self.types.enumerated() {
      let isFloating = type == "Float" || type == "Double"
      changes.append(
        .addColumn(table: 1, name: type, type: isFloating ? .double : .integer, isNullable: true)
      )
      let value = Array("numbers \(type)".utf8)
      changes.append(.setMetadata(key: "values.1.\(index + 1)", value: value))
    }
    changes.append(.addColumn(table: 1, name: "any", type: .integer, isNullable: true))
    changes.append(.addColumn(table: 1, name: "anyDouble", type: .double, isNullable: true))
    changes.append(.setLayout(table: 1, columns: (1...14).map { UInt16($0) }))
    try engine.apply(changes)
    try engine.close()
  }

  private func `import`(_ number: String, as type: String, _ format: String) throws -> ToolError? {
    let text =
      format == "csv"
      ? "Int,\(type == "Int" ? "any" : type)\n0,\(number)\n"
      : "{\"\(type)\":\(number.contains("n") ? "\"\(number)\"" : number)}\n"
    let file = try disk.open("t.\(format)", .create)
    _ = try file.write(Array(text.utf8).span.bytes, at: 0)
    return try session.run("import", "t.store", "Reading", "t.\(format)").error
  }

  @Test(
    arguments: [
      ("Int8", "300", "an integer from -128 to 127"),
      ("Int8", "-129", "an integer from -128 to 127"),
      ("Int16", "32768", "an integer from -32768 to 32767"),
      ("Int32", "-2147483649", "an integer from -2147483648 to 2147483647"),
      ("Int64", "9223372036854775808", "an integer from \(Int64.min) to \(Int64.max)"),
      ("any", "9223372036854775808", "an integer from \(Int64.min) to \(Int64.max)"),
      ("UInt8", "-1", "an integer from 0 to 255"), ("UInt8", "256", "an integer from 0 to 255"),
      ("UInt16", "70000", "an integer from 0 to 65535"),
      ("UInt32", "4294967296", "an integer from 0 to 4294967295"),
      ("UInt", "-1", "an integer from 0 to 18446744073709551615"),
      ("UInt64", "18446744073709551616", "an integer from 0 to 18446744073709551615"),
      ("Float", "1e39", "a number from -3.4028235e+38 to 3.4028235e+38"),
      ("Float", "-1e39", "a number from -3.4028235e+38 to 3.4028235e+38"),
      ("Double", "1e400", "a number from -\(Double.greatestFiniteMagnitude) to"),
      ("anyDouble", "-1e400", "a number from -\(Double.greatestFiniteMagnitude) to"),
    ],
    ["csv", "ndjson"]
  )
  func `are refused where their type does not have them`(
    _ sample: (type: String, number: String, expected: String),
    format: String
  ) throws {
    let error = try #require(try `import`(sample.number, as: sample.type, format))
    let place =
      format == "csv" ? "line 2, character 3" : "line 1, character \(sample.type.count + 5)"
    #expect(error.place == "t.\(format), \(place)")
    #expect(error.what == "a value of \(sample.type) cannot be imported")
    #expect(error.expected?.hasPrefix(sample.expected) ?? false, "\(error)")
    #expect(error.found == sample.number)
    #expect(try session.run("export", "t.store", "Reading").output.isEmpty)
  }

  @Test(
    arguments: [
      ("Int8", "-128"), ("Int8", "127"), ("Int16", "-32768"), ("Int32", "2147483647"),
      ("Int64", "-9223372036854775808"), ("any", "9223372036854775807"), ("UInt8", "255"),
      ("UInt16", "65535"), ("UInt32", "4294967295"), ("UInt", "18446744073709551615"),
      ("UInt64", "0"), ("Float", "3.4028235e+38"), ("Float", "inf"), ("Float", "nan"),
      ("Double", "1.7976931348623157e+308"), ("Double", "-inf"), ("Double", "nan"),
      ("anyDouble", "inf"),
    ],
    ["csv", "ndjson"]
  )
  func `are taken up to the ends of their type, and spelled out beyond`(
    _ sample: (type: String, number: String),
    format: String
  ) throws {
    #expect(try `import`(sample.number, as: sample.type, format) == nil)
    let rows = try session.run(
      "export",
      "t.store",
      "Reading",
      "--columns",
      sample.type,
      "--format",
      "csv"
    )
    #expect(rows.output.split(separator: "\n").last.map(String.init) == sample.number)
  }

  @Test func `are as exact as their type is`() throws {
    #expect(try `import`("0.1", as: "Float", "csv") == nil)
    let rows = try session.run("export", "t.store", "Reading", "--columns", "Float")
    #expect(rows.output == "{\"Float\":0.1}\n")
  }
}
