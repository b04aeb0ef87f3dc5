import RowFormat
import Testing

@testable import logstore_inspect

@Suite struct `A timestamp` {
  @Test(arguments: [
    (0.0, "2001-01-01T00:00:00Z"), (-1.0, "2000-12-31T23:59:59Z"),
    (378_727_200.0, "2013-01-01T10:00:00Z"), (0.25, "2001-01-01T00:00:00.25Z"),
    (-0.5, "2000-12-31T23:59:59.5Z"), (0.999_999_9, "2001-01-01T00:00:00.9999999Z"),
    (-63_145_526_400.0, "0000-01-01T00:00:00Z"), (252_423_993_599.0, "9999-12-31T23:59:59Z"),
    (-31_622_400.0, "2000-01-01T00:00:00Z"), (-26_524_800.0, "2000-02-29T00:00:00Z"),
  ])
  func `prints in ISO 8601`(seconds: Double, text: String) {
    #expect(Timestamp(seconds: seconds).description == text)
  }

  @Test(arguments: [Double.nan, .infinity, 1e300, -1e12])
  func `out of range prints as the number it is`(seconds: Double) {
    #expect(Timestamp(seconds: seconds).description == "\(seconds) s since 2001")
  }
}

@Suite struct `A JSON value` {
  @Test(
    arguments: [
      (.string("a\"b\\c\n\u{1}\u{7F}é"), #""a\"b\\c\n\u0001\u007fé""#),
      (.double(1.5), "1.5"), (.double(.infinity), "\"inf\""),
      (.unsigned(.max), "18446744073709551615"),
      (["b": .integer(1), "a": .array([.null, .bool(true)])], #"{"b":1,"a":[null,true]}"#),
      (.object([]), "{}"),
    ] as [(JSONValue, String)]
  )
  func `prints in one line, its members in order`(value: JSONValue, text: String) {
    #expect(value.text == text)
  }
}

@Suite struct `A structured column` {
  private func decode(_ bytes: [UInt8]) -> String? {
    StructuredValue.decode(bytes.span.bytes)?.text
  }

  /// Examples of RFC 8949, appendix A.
  @Test(
    arguments: [
      ([0x00], "0"), ([0x18, 0x64], "100"), ([0x19, 0x03, 0xE8], "1000"), ([0x38, 0x63], "-100"),
      ([0x1B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], "18446744073709551615"),
      ([0xF9, 0x3C, 0x00], "1.0"), ([0xF9, 0xC4, 0x00], "-4.0"),
      ([0xF9, 0x00, 0x01], "5.960464477539063e-08"),
      ([0xFA, 0x47, 0xC3, 0x50, 0x00], "100000.0"),
      ([0xFB, 0x3F, 0xF1, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9A], "1.1"),
      ([0xF4], "false"), ([0xF5], "true"), ([0xF6], "null"),
      ([0x64, 0x49, 0x45, 0x54, 0x46], "\"IETF\""),
      ([0x44, 0x01, 0x02, 0x03, 0x04], #"{"bytes":4,"hex":"01020304"}"#),
      ([0x83, 0x01, 0x82, 0x02, 0x03, 0x80], "[1,[2,3],[]]"),
      ([0xA2, 0x61, 0x61, 0x01, 0x61, 0x62, 0x82, 0x02, 0x03], #"{"a":1,"b":[2,3]}"#),
      ([0xA1, 0x01, 0x02], #"{"1":2}"#), ([0xC1, 0x1A, 0x51, 0x4B, 0x67, 0xB0], "1363896240"),
      ([0x9F, 0x01, 0x02, 0xFF], "[1,2]"), ([0xBF, 0x61, 0x61, 0x01, 0xFF], #"{"a":1}"#),
    ] as [([UInt8], String)]
  )
  func `is shown as JSON`(bytes: [UInt8], text: String) {
    #expect(decode(bytes) == text)
  }

  @Test(
    arguments: [
      [], [0x18], [0x1C], [0x61], [0x82, 0x01], [0x00, 0x00], [0x9F, 0x01], [0xBF, 0x01, 0xFF],
      [0xFF],
      [0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], Array(repeating: 0x81, count: 1000),
    ] as [[UInt8]]
  )
  func `that is not what it should be is not read as something else`(bytes: [UInt8]) {
    #expect(decode(bytes) == nil)
  }
}

@Suite struct `A cell` {
  private let layout = RowLayout(ColumnType.allCases)

  private func cells(_ fill: (inout RowWriter) -> Void) -> [CellValue] {
    var writer = RowWriter()
    writer.begin(layout)
    fill(&writer)
    let range = writer.finish()
    let row = writer.bytes.extracting(range)
    return layout.types.indices.map { column in
      CellValue(column, of: row, layout: layout) { "Table\($0)" }
    }
  }

  @Test func `without a value is a dash`() {
    let cells = cells { _ in }
    for (type, cell) in zip(layout.types, cells) {
      // A list without bytes of its own is kept at its members: it is not shown as empty.
      #expect(cell == (type == .references ? .membersElsewhere : .null))
    }
    #expect(CellValue.null.text == "–")
    #expect(CellValue.null.json.text == "null")
  }

  @Test func `prints by the type of its column`() {
    let cells = cells { row in
      row.set(0, integer: -7)
      row.set(1, double: 2.5)
      row.set(2, bool: true)
      row.set(3, double: 378_727_200)
      row.set(4, uuid: (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908))
      row.set(5, reference: RowReference(table: 3, key: 17))
      row.append(6, text: "Lisbon\n")
      let bytes: [UInt8] = [0xDE, 0xAD]
      row.append(7, bytes: bytes.span.bytes)
      row.append(8, references: [RowReference(table: 1, key: 1), RowReference(table: 1, key: 2)])
      let structured: [UInt8] = [0x82, 0x01, 0x02]
      row.append(9, bytes: structured.span.bytes)
    }
    #expect(
      cells.map(\.text) == [
        "-7", "2.5", "true", "2013-01-01T10:00:00Z", "00010203-0405-0607-0809-0A0B0C0D0E0F",
        "Table3/17", "\"Lisbon\\n\"", "2 bytes dead", "[Table1/1, Table1/2]", "[1,2]", "–",
      ]
    )
    #expect(
      cells.map(\.json.text) == [
        "-7", "2.5", "true", "\"2013-01-01T10:00:00Z\"", "\"00010203-0405-0607-0809-0A0B0C0D0E0F\"",
        "\"Table3/17\"", "\"Lisbon\\n\"", "{\"bytes\":2,\"hex\":\"dead\"}",
        "[\"Table1/1\",\"Table1/2\"]", "[1,2]", "null",
      ]
    )
  }

  @Test func `of many bytes shows how many, and the first sixteen`() {
    let bytes = [UInt8](repeating: 0xAB, count: 1000)
    let text = CellValue.bytes(bytes.span.bytes).text
    #expect(text == "1000 bytes " + String(repeating: "ab", count: 16) + "…")
  }
}
