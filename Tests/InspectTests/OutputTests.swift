import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

@Suite struct `A field of CSV` {
  @Test(
    arguments: [
      (.null, ""), (.string(""), "\"\""), (.string("a"), "a"), (.string("a,b"), "\"a,b\""),
      (.string("say \"no\""), "\"say \"\"no\"\"\""), (.string("a\nb"), "\"a\nb\""),
      (.integer(-1), "-1"), (.bool(true), "true"), (.double(.nan), "nan"),
      (.double(-.infinity), "-inf"),
      (.array([.integer(1), .integer(2)]), "\"[1,2]\""),
    ] as [(JSONValue, String)]
  )
  func `is quoted where it has to be`(value: JSONValue, text: String) {
    #expect(value.csvField == text)
  }
}

@Suite struct `A hexadecimal dump` {
  @Test(arguments: [0, 1, 15, 16, 17, 40])
  func `shows every byte under its offset`(count: Int) {
    let bytes = (0..<count).map { UInt8($0 + 60) }
    var lines: [String] = []
    HexDump.forEachLine(of: bytes.span.bytes, at: 4096) { lines.append($0) }
    #expect(lines.count == (count + 15) / 16)
    let digits = lines.flatMap { line in
      line.dropFirst(10).prefix { $0 != "|" }.split(separator: " ")
    }
    #expect(digits.map { UInt8($0, radix: 16) } == bytes)
    #expect(Set(lines.map { $0.firstIndex(of: "|")?.utf16Offset(in: $0) }).count <= 1)
    #expect(lines.first?.hasPrefix("00001000") ?? true)
  }
}

@Suite struct `An age` {
  @Test(
    arguments: [
      (0, "0 s"), (59, "59 s"), (60, "1 min"), (3599, "59 min"), (3600, "1 h"), (86_399, "23 h"),
      (86_400, "1 d"), (-5, "0 s"), (90_000_000, "1,041 d"),
    ] as [(Int64, String)]
  )
  func `has the largest unit that fits`(seconds: Int64, text: String) {
    #expect((seconds * 1_000_000).age == text)
  }
}
