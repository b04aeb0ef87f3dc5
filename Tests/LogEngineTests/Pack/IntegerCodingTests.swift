import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `Coded integers` {
  private func decoded(
    _ buffer: borrowing ByteBuffer,
    _ count: Int,
    wanted: Range<Int>? = nil
  ) -> [Int64]? {
    var cursor = ByteCursor(0..<buffer.count)
    var values = [Int64](repeating: 0, count: count)
    let isValid = unsafe values.withUnsafeMutableBufferPointer {
      unsafe IntegerCoding.decode(buffer.bytes, &cursor, into: $0, wanted ?? 0..<count)
    }
    return isValid && cursor.remaining == 0 ? values : nil
  }

  /// Each value, and each sum of those before it, found without the others; and parts of the list.
  private func expectSingleValues(_ values: [Int64]) {
    let buffer = encoded(values)
    for start in stride(from: 0, to: values.count, by: max(values.count / 5, 1)) {
      for end in [start, start + 1, (start + values.count) / 2, values.count] where end >= start {
        let part = decoded(buffer, values.count, wanted: start..<end)
        #expect(part?[start..<end] == values[start..<end], "values \(start)..<\(end)")
      }
    }
    guard let list = IntegerList(buffer.bytes, at: 0, count: values.count) else {
      #expect(values.isEmpty)
      return
    }
    #expect(list.end == buffer.count)
    let areLengths = values.allSatisfy { 0...1_000_000 ~= $0 }
    var sum = 0
    for (index, value) in values.enumerated() {
      // No byte behind it is needed.
      let bytes = buffer.bytes.extracting(0..<list.end(ofFirst: index + 1))
      #expect(list.value(at: index, in: bytes) == value, "value \(index)")
      let lengths = list.lengths(upTo: index, in: bytes, limit: 1_000_000)
      if areLengths {
        #expect(lengths?.sum == sum && lengths?.last == Int(value), "length \(index)")
        sum += Int(value)
      } else if !values[...index].allSatisfy({ 0...1_000_000 ~= $0 }) {
        #expect(lengths == nil, "length \(index)")
      }
    }
  }

  private func encoded(_ values: [Int64]) -> ByteBuffer {
    var buffer = ByteBuffer()
    IntegerCoding.encode(values, into: &buffer)
    return buffer
  }

  @Test(
    arguments: [
      [], [0], [.min], [.max], [.min, .max], [.max, .min, .max], [5, 5, 5, 5], [1, 2, 3, 4, 5],
      [0, -1, 1], [60, 0, 3600, -120], [1 << 62, -(1 << 62)], Array(0..<1000),
      (0..<500).map { $0 * $0 }, (0..<500).map { -$0 * 1_000_000_007 },
    ] as [[Int64]]
  )
  func `come back as they were`(_ values: [Int64]) {
    #expect(decoded(encoded(values), values.count) == values)
    expectSingleValues(values)
  }

  @Test(arguments: 0...64)
  func `of every width come back as they were`(width: Int) {
    var random = SeededGenerator(seed: UInt64(width))
    let mask = width == 0 ? 0 : UInt64.max >> UInt64(64 - width)
    for count in [1, 2, 7, 8, 9, 63, 64, 65, 300] {
      let values = (0..<count).map { _ in Int64(bitPattern: random.next() & mask) }
      #expect(decoded(encoded(values), count) == values, "\(count) values")
      expectSingleValues(values)
    }
  }

  @Test func `take no more bits than tell them apart`() {
    #expect(encoded(Array(repeating: 1 << 50, count: 4096)).count < 16)
    // Whole minutes of a day: 1,440 of them, in eleven bits.
    let minutes = (0..<4096).map { Int64($0 * 7919 % 1440 * 60) }
    #expect(encoded(minutes).count < 4096 * 11 / 8 + 16)
    // A clock that ticks unevenly: three bits each, whatever the time.
    var clock: Int64 = 1 << 60
    let ticks = (0..<4096).map { index in
      clock += Int64(index % 8)
      return clock
    }
    #expect(encoded(ticks).count < 4096 * 3 / 8 + 32)
  }

  @Test func `that are cut off are refused`() {
    let whole = encoded((0..<100).map { $0 * $0 * 31 })
    for length in 0..<whole.count {
      var cut = ByteBuffer()
      cut.append(whole.bytes.extracting(0..<length))
      #expect(decoded(cut, 100) == nil, "\(length) of \(whole.count) bytes")
    }
  }
}
