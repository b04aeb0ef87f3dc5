import Foundation
import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `Reading ahead of a scan` {
  private static let blockByteCount = 40_000
  private static let limit = 1000 * blockByteCount + 123

  /// What is asked for when blocks are read, in this order.
  private func hints(_ blocks: some Sequence<Int>) -> [Range<Int>] {
    let readAhead = ReadAhead()
    return blocks.compactMap {
      readAhead.next($0, at: $0 * Self.blockByteCount, limit: Self.limit)
    }
  }

  @Test(arguments: [1, 2, ReadAhead.greatestGap])
  func `asks for each byte once, and for what is next before it is read`(step: Int) {
    let readAhead = ReadAhead()
    var end = 0
    for (count, block) in stride(from: 0, to: 1000, by: step).enumerated() {
      let offset = block * Self.blockByteCount
      if let range = readAhead.next(block, at: offset, limit: Self.limit) {
        #expect(range.lowerBound == max(end, offset))
        #expect(range.count <= ReadAhead.byteCount)
        end = range.upperBound
      }
      if count + 1 >= ReadAhead.leastLength { #expect(end >= offset + Self.blockByteCount) }
    }
    #expect(end == Self.limit)
  }

  @Test func `asks for nothing while columns of one block are read`() {
    #expect(hints(repeatElement(7, count: 100)).isEmpty)
    let twice = (0..<50).flatMap { [$0, $0] }
    #expect(hints(twice) == hints(0..<50))
  }

  @Test func `asks for nothing when single rows are read here and there`() {
    var random = SeededGenerator(seed: 5)
    let far = ReadAhead.greatestGap + 1
    var block = 0
    let jumps = (0..<2000).map { _ in
      block = (block + far + Int.random(in: 0..<900, using: &random)) % 1000
      return block
    }
    #expect(hints(jumps).isEmpty)
    #expect(hints((0..<1000).reversed()).isEmpty)
  }

  @Test func `begins again with the next scan`() {
    let once = hints(0..<1000)
    #expect(hints(Array(0..<1000) + Array(0..<1000)) == once + once)
  }

  @Test func `tells the file, whose contents are the same`() throws {
    let layout = LayoutDefinition([.integer])
    var options = PackOptions()
    options.blockRowCount = 10
    let rows = (1...1000).map { key in
      makeRow(layout, key: UInt64(key)) { $0.set(0, integer: Int64(key)) }
    }
    let pack = try TestPack(rows, [layout], options: options)
    let disk = HookedFileSystem(pack.fileSystem) { _ in }
    let reader = try PackReader.open(pack.path, on: disk, pack: pack.id, of: pack.store)
    var sum: Int64 = 0
    try reader.scanColumns(1, [1]) { block in
      let vector = try block.column(0)
      let values = vector.integers
      for row in values.indices { sum += values[row] }
      return .proceed
    }
    #expect(sum == 500_500)
    let whole = try #require(disk.hints.withLock { $0.first })
    #expect(whole.upperBound == pack.summary.byteCount)
    #expect(disk.hints.withLock { $0.count } == 1)
  }

  @Test func `is nothing that a file of the system would stumble over`() throws {
    let name = "read-ahead-\(UUID().uuidString)"
    let path = FileManager.default.temporaryDirectory.appending(path: name).path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let file = try PosixFileSystem().open(path, .create)
    try file.writeAll([UInt8](repeating: 7, count: 10_000).span.bytes, at: 0)
    for isMapped in [false, true] {
      let mapping = isMapped ? try file.map(10_000, .sharedReadOnly) : nil
      for range in [0..<10_000, 0..<0, 9_999..<10_000, 5_000..<2_000_000, 10_000..<10_001] {
        file.willRead(range)
      }
      #expect(try file.readBytes(10_000, at: 0).count == 10_000)
      withExtendedLifetime(mapping) {}
    }
    // A mapping that is gone is asked about no more than it is read.
    file.willRead(0..<10_000)
  }
}
