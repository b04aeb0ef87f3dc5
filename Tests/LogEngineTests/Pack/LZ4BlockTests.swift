import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

/// The codec in Swift against the system's library, which ``LZ4`` calls unless the trait `SwiftLZ4` is on.
@Suite struct `LZ4 blocks in Swift` {
  private func encode(_ source: [UInt8], room: Int) -> [UInt8]? {
    var target = [UInt8](repeating: 0xEE, count: room)
    let count = source.withUnsafeBytes { source in
      target.withUnsafeMutableBytes { LZ4Block.encode(source, into: $0) }
    }
    return count > 0 ? Array(target.prefix(count)) : nil
  }

  private func decode(_ source: [UInt8], room: Int) -> [UInt8]? {
    var target = [UInt8](repeating: 0xEE, count: room)
    let count = source.withUnsafeBytes { source in
      target.withUnsafeMutableBytes { LZ4Block.decode(source, into: $0) }
    }
    return count >= 0 ? Array(target.prefix(count)) : nil
  }

  private func decodePrefix(_ source: [UInt8], _ count: Int) -> [UInt8]? {
    var target = [UInt8](repeating: 0xEE, count: count)
    let written = source.withUnsafeBytes { source in
      target.withUnsafeMutableBytes { LZ4Block.decode(source, into: $0, isPrefix: true) }
    }
    return written == count ? target : nil
  }

  private func libraryDecodePrefix(_ source: [UInt8], _ count: Int) throws -> [UInt8] {
    var target = ByteBuffer()
    try LZ4.decompressPrefix(source.span.bytes, count: count, into: &target)
    return target.bytes.withUnsafeBytes { Array($0) }
  }

  private func libraryEncode(_ source: [UInt8]) -> [UInt8]? {
    var target = ByteBuffer()
    let room = source.count + source.count / 255 + 64
    guard LZ4.compress(source.span.bytes, upTo: room, into: &target) != nil else { return nil }
    return target.bytes.withUnsafeBytes { Array($0) }
  }

  private func libraryDecode(_ source: [UInt8], count: Int) -> [UInt8]? {
    var target = ByteBuffer()
    do {
      try LZ4.decompress(source.span.bytes, count: count, into: &target)
    } catch {
      return nil
    }
    return target.bytes.withUnsafeBytes { Array($0) }
  }

  /// Bytes with runs, repetitions at all distances, and noise.
  private func bytes(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        let run = Int.random(in: 1...600, using: &random)
        bytes += [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: run)
      case 1 where !bytes.isEmpty:
        let distance = Int.random(in: 1...min(bytes.count, 70_000), using: &random)
        for _ in 0..<Int.random(in: 4...400, using: &random) {
          bytes.append(bytes[bytes.count - distance])
        }
      case 2:
        for _ in 0..<Int.random(in: 1...40, using: &random) {
          bytes.append(UInt8.random(in: 97...100, using: &random))
        }
      default:
        for _ in 0..<Int.random(in: 1...300, using: &random) {
          bytes.append(UInt8.random(in: 0...255, using: &random))
        }
      }
    }
    return Array(bytes.prefix(count))
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `are read by the library, and read what it writes`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let sizes = Array(1...40) + (0..<40).map { _ in Int.random(in: 1...200_000, using: &random) }
    for size in sizes {
      let source = bytes(size, &random)
      let room = size + size / 255 + 64
      let ours = try #require(encode(source, room: room), "seed \(seed), \(size) bytes")
      #expect(libraryDecode(ours, count: size) == source, "seed \(seed), \(size) bytes")
      #expect(decode(ours, room: size) == source, "seed \(seed), \(size) bytes")
      let theirs = try #require(libraryEncode(source))
      #expect(decode(theirs, room: size) == source, "seed \(seed), \(size) bytes")
      // In no room too small, and in any that is large enough.
      #expect(encode(source, room: ours.count) == ours, "seed \(seed), \(size) bytes")
      #expect(encode(source, room: ours.count - 1) == nil, "seed \(seed), \(size) bytes")
      #expect(decode(ours, room: size - 1) == nil, "seed \(seed), \(size) bytes")
    }
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `are unpacked up to any byte`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for size in [1, 5, 13, 300, 40_000] {
      let source = bytes(size, &random)
      let block = try #require(encode(source, room: size + size / 255 + 64))
      let some = (0..<60).map { _ in Int.random(in: 1...size, using: &random) }
      for count in Set(some + [1, size]) {
        let expected = Array(source.prefix(count))
        #expect(decodePrefix(block, count) == expected, "seed \(seed), \(count) of \(size)")
        #expect(
          try libraryDecodePrefix(block, count) == expected,
          "seed \(seed), \(count) of \(size)"
        )
      }
      #expect(decodePrefix(block, size + 1) == nil)
      #expect(throws: LZ4.Failure.self) { try libraryDecodePrefix(block, size + 1) }
    }
  }

  @Test func `are refused or unpacked up to a byte, whatever is damaged`() throws {
    var random = SeededGenerator(seed: 4)
    for round in 0..<20_000 {
      let source = bytes(Int.random(in: 1...400, using: &random), &random)
      var bad = try #require(encode(source, room: 1000))
      bad[Int.random(in: bad.indices, using: &random)] = .random(in: 0...255, using: &random)
      let count = Int.random(in: 1...source.count, using: &random)
      guard let prefix = decodePrefix(bad, count), let whole = decode(bad, room: 100_000) else {
        continue
      }
      #expect(prefix == Array(whole.prefix(count)), "round \(round)")
    }
  }

  @Test func `take little more than the library's`() throws {
    var random = SeededGenerator(seed: 9)
    var (ours, theirs) = (0, 0)
    for _ in 0..<20 {
      let source = bytes(100_000, &random)
      ours += try #require(encode(source, room: 200_000)).count
      theirs += try #require(libraryEncode(source)).count
    }
    #expect(Double(ours) < Double(theirs) * 1.1)
  }

  @Test func `agree with the library on damaged bytes, or refuse them`() throws {
    var random = SeededGenerator(seed: 3)
    var accepted = 0
    for round in 0..<20_000 {
      let source = bytes(Int.random(in: 1...400, using: &random), &random)
      var bad = try #require(encode(source, room: 1000))
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        bad[Int.random(in: bad.indices, using: &random)] = .random(in: 0...255, using: &random)
      }
      if random.oneIn(4) { bad.removeLast(Int.random(in: 0..<bad.count, using: &random)) }
      // The library refuses some ends that are merely unusual, and takes a match that begins nowhere.
      guard let theirs = libraryDecode(bad, count: source.count),
        let ours = decode(bad, room: source.count)
      else { continue }
      accepted += 1
      #expect(ours == theirs, "round \(round)")
    }
    #expect(accepted > 1000)
  }
}
