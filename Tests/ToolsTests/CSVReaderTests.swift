import Testing

@testable import SampleTrips

/// All records of a text as arrays of fields; a malformed one as its reason.
private func records(_ text: String) -> [[String]] {
  var reader = CSVReader(Array(text.utf8))
  var all: [[String]] = []
  while let record = reader.next() {
    switch record {
    case .fields: all.append((0..<reader.count).map { reader.text($0) })
    case .malformed(let reason): all.append(["line \(reader.line): \(reason)"])
    }
  }
  return all
}

@Suite struct `A CSV reader` {
  @Test(arguments: [
    ("a,b\nc,d\n", [["a", "b"], ["c", "d"]]),
    ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]),
    ("a,b\rc,d", [["a", "b"], ["c", "d"]]),
    ("a,b\nc,d", [["a", "b"], ["c", "d"]]),
    ("\u{FEFF}a,b", [["a", "b"]]),
    ("\n\r\na\n\n\n", [["a"]]),
    ("a,,", [["a", "", ""]]),
    (",\n", [["", ""]]),
    ("", []),
    ("\n", []),
  ])
  func `finds fields and lines however they end`(text: String, expected: [[String]]) {
    #expect(records(text) == expected)
  }

  @Test(arguments: [
    ("\"a,b\",c", [["a,b", "c"]]),
    ("\"a \"\"b\"\" c\"", [["a \"b\" c"]]),
    ("\"\",x", [["", "x"]]),
    ("\"\"\"\"", [["\""]]),
    ("\"two\nlines\",x\r\ny,z", [["two\nlines", "x"], ["y", "z"]]),
    ("x,\"end\"", [["x", "end"]]),
    ("O'Hare,Zürich", [["O'Hare", "Zürich"]]),
  ])
  func `takes text between quotes as it is`(text: String, expected: [[String]]) {
    #expect(records(text) == expected)
  }

  @Test(arguments: [
    (
      "a\nb\"c\nd",
      [["a"], ["line 2: a quote in the middle of a field that does not start with one"], ["d"]]
    ),
    ("a\n\"b\"c,d\ne", [["a"], ["line 2: text behind the closing quote of a field"], ["e"]]),
    ("a\n\"b,c\nd\ne", [["a"], ["line 2: a quote that is never closed"], ["d"], ["e"]]),
    (
      "\"a\nb\"\nc\"\n",
      [["a\nb"], ["line 3: a quote in the middle of a field that does not start with one"]]
    ),
  ])
  func `reports lines that are no record, and goes on behind them`(
    text: String,
    expected: [[String]]
  ) {
    #expect(records(text) == expected)
  }

  @Test func `counts the lines inside quotes`() {
    var reader = CSVReader(Array("\"a\nb\"\n\nc\nd".utf8))
    var lines: [Int] = []
    while reader.next() != nil { lines.append(reader.line) }
    #expect(lines == [1, 4, 5])
  }

  @Test(arguments: [("", true), ("NA", true), ("NAN", false), ("0", false), ("na", false)])
  func `knows a missing value`(field: String, isMissing: Bool) {
    var reader = CSVReader(Array("x,\(field),y".utf8))
    _ = reader.next()
    #expect(reader.isMissing(1) == isMissing)
  }

  @Test(arguments: [
    ("0", 0), ("-43", -43), ("1301", 1301), ("999999999999999999", 999_999_999_999_999_999),
    ("", nil), ("-", nil), ("+1", nil), ("1.5", nil), ("12a", nil), ("1000000000000000000", nil),
  ])
  func `reads an integer or says there is none`(text: String, expected: Int?) {
    #expect(CSVReader.integer(Array(text.utf8)[...]) == expected)
  }
}
