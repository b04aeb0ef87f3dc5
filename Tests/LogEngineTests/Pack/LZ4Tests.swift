import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `LZ4 blocks` {
  private func buffer(_ bytes: [UInt8]) -> ByteBuffer {
    var buffer = ByteBuffer()
    buffer.append(bytes.span.bytes)
    return buffer
  }

  private func compressed(_ source: [UInt8]) -> [UInt8]? {
    var target = ByteBuffer()
    let count = LZ4.compress(source.span.bytes, upTo: source.count, into: &target)
    return count == nil ? nil : target.bytes.withUnsafeBytes { Array($0) }
  }

  private let text = Array(String(repeating: "what comes again costs little; ", count: 50).utf8)

  @Test func `gives back what it took`() throws {
    let source = try #require(compressed(text))
    #expect(source.count < text.count / 5)
    var target = buffer([1, 2, 3])
    try LZ4.decompress(source.span.bytes, count: text.count, into: &target)
    #expect(target.bytes.withUnsafeBytes { Array($0) } == [1, 2, 3] + text)
  }

  @Test func `takes nothing that does not fit`() {
    var random = SeededGenerator(seed: 1)
    let noise = (0..<1000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    var target = buffer([9])
    #expect(LZ4.compress(noise.span.bytes, upTo: noise.count, into: &target) == nil)
    #expect(LZ4.compress([UInt8]().span.bytes, upTo: 100, into: &target) == nil)
    #expect(LZ4.compress(text.span.bytes, upTo: 0, into: &target) == nil)
    #expect(target.count == 1)
  }

  @Test func `refuses blocks that decode to more or fewer bytes than they should`() throws {
    let source = try #require(compressed(text))
    for count in [0, 1, text.count - 1, text.count + 1, Int.max, -1] {
      var target = ByteBuffer()
      #expect(throws: LZ4.Failure.self) {
        try LZ4.decompress(source.span.bytes, count: count, into: &target)
      }
      #expect(target.count == 0)
    }
  }

  @Test func `never reads or writes beyond its bounds, whatever it is given`() throws {
    let good = try #require(compressed(text))
    for index in good.indices {
      for bit in 0..<8 {
        var bad = good
        bad[index] ^= 1 << UInt8(bit)
        var target = ByteBuffer()
        // Either an error, or as many bytes as asked for: nothing else can be said.
        do {
          try LZ4.decompress(bad.span.bytes, count: text.count, into: &target)
          #expect(target.count == text.count)
        } catch {
          #expect(target.count == 0)
        }
      }
    }
  }
}
