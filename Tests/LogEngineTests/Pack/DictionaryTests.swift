import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `The dictionary of a column` {
  private let layout = LayoutDefinition([.text])

  private func makePack(_ values: [String]) throws -> (pack: TestPack, rows: [TestRow]) {
    let rows = values.enumerated().map { index, value in
      makeRow(layout, key: UInt64(index + 1)) { $0.append(0, text: value) }
    }
    var options = PackOptions()
    options.blockByteCount = 1 << 20
    options.blockRowCount = 1000
    return (try TestPack(rows, [layout], options: options), rows)
  }

  private func forms(_ reader: PackReader) throws -> [ColumnVector.Form] {
    var forms: [ColumnVector.Form] = []
    try reader.scanColumns(1, [1]) { block in
      forms.append(try block.column(0).form)
      return .proceed
    }
    return forms
  }

  @Test func `holds each value once for the whole pack`() throws {
    let (pack, rows) = try makePack((0..<20_000).map { "a value of some length, \($0 % 100)" })
    let reader = try pack.open()
    #expect(reader.footer.dictionaries.map(\.valueCount) == [100])
    #expect(try forms(reader) == Array(repeating: .codes, count: 20))
    // Seven bits a row, and next to nothing beside them.
    #expect(pack.summary.byteCount < 20_000 * 7 / 8 + 4096 + 20 * 100 + 2000)
    #expect(try reader.rows() == rows)
  }

  @Test func `ends when values keep differing, and what it holds stays`() throws {
    var random = SeededGenerator(seed: 1)
    let repeated = (0..<3000).map { "again \($0 % 10)" }
    let unique = (0..<6000).map { _ in "never again \(random.next())" }
    let (pack, rows) = try makePack(repeated + unique + repeated)
    let reader = try pack.open()
    let forms = try forms(reader)
    #expect(forms.prefix(3) == [.codes, .codes, .codes])
    #expect(forms.suffix(3) == [.bytes, .bytes, .bytes])
    #expect(try reader.rows() == rows)
  }

  @Test func `leaves a block with a long value alone`() throws {
    let long = String(repeating: "x", count: DictionaryBuilder.longestValue + 1)
    let values = (0..<3000).map { $0 == 1500 ? long : "short \($0 % 3)" }
    let (pack, rows) = try makePack(values)
    let reader = try pack.open()
    #expect(try forms(reader) == [.codes, .bytes, .codes])
    #expect(try reader.rows() == rows)
  }

  @Test func `numbers as many values as a code can tell apart, and no more`() {
    let dictionary = DictionaryBuilder()
    func number(_ values: Range<Int>) -> Bool {
      var bytes = ByteBuffer()
      var ranges: [Range<Int>] = []
      for value in values {
        let start = bytes.count
        bytes.append(UInt32(value))
        ranges.append(start..<bytes.count)
      }
      var codes: [UInt16] = []
      let isDone = dictionary.number(bytes.bytes, ranges, into: &codes)
      #expect(isDone ? codes.map(Int.init) == Array(values) : codes.isEmpty)
      return isDone
    }
    #expect(number(0..<1000))
    // Each value comes often enough for the dictionary to go on.
    for _ in 0..<300 { #expect(number(0..<1000)) }
    var end = 1000
    while end + 1000 <= DictionaryBuilder.entryLimit, number(end..<(end + 1000)) { end += 1000 }
    #expect(end == 65_000 && dictionary.count == 65_000)
    #expect(!number(65_000..<66_000))
    #expect(dictionary.isEnded && dictionary.count == 65_000)
    #expect(!number(0..<10))
  }
}
