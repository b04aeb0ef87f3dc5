import RowFormat
import Testing

@testable import ModelRuntime

@Suite struct `The rows of a fetch` {
  /// Bytes that tell rows apart.
  private func bytes(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0) }
  }

  private func collect(_ sizes: [Int], table: (Int) -> UInt16 = { _ in 1 }) -> [FetchedRow] {
    var builder = FetchedRowBuilder()
    for (number, size) in sizes.enumerated() {
      let reference = RowReference(table: table(number), key: UInt64(number + 1))
      bytes(number, size).withUnsafeBytes { builder.append(reference, row: $0.bytes) }
    }
    return builder.rows
  }

  @Test(
    arguments: [
      [0], [1], [15, 16, 17], [4096], [RowArena.blockSize], [3 * RowArena.blockSize],
      Array(repeating: 200, count: 2000), Array(0..<700), [70_000, 1, 70_000, 1],
      // What the first block and what every other has room for, to the byte and one more.
      [4096 - 48, 1], [4096 - 47, 1],
      [1, RowArena.blockSize - 48, 1], [1, RowArena.blockSize - 47],
    ]
  )
  func `are found again by their entries, whatever their sizes`(sizes: [Int]) {
    let rows = collect(sizes)
    #expect(rows.count == sizes.count)
    for (number, row) in rows.enumerated() {
      #expect(row.reference == RowReference(table: 1, key: UInt64(number + 1)))
      #expect(row.byteCount == sizes[number])
      #expect(row.row.arena.toOpaque() == row.arena.map { Unmanaged.passUnretained($0).toOpaque() })
      let isSame = row.withBytes { span in
        span.withUnsafeBytes { Array($0) == bytes(number, sizes[number]) }
      }
      #expect(isSame, "row \(number) of \(sizes[number]) bytes")
    }
  }

  @Test func `share blocks, but not with rows of another table`() {
    let rows = collect(Array(repeating: 100, count: 30)) { $0 < 10 ? 1 : $0 < 20 ? 2 : 1 }
    let blocks = rows.map { $0.row.arena.toOpaque() }
    #expect(Set(blocks[..<10]).count == 1)
    #expect(Set(blocks[10..<20]).count == 1)
    #expect(Set(blocks).count == 3)
  }

  @Test func `belong to the first context that makes objects of them`() throws {
    let rows = collect([10, 10])
    let arena = try #require(rows[0].arena)
    let layout = RowLayout([.integer])
    func home(_ owner: AnyObject) -> RowArena.Home {
      let pointer = Unmanaged.passUnretained(owner).toOpaque()
      let layout = Unmanaged.passUnretained(layout).toOpaque()
      return RowArena.Home(context: pointer, connection: pointer, map: pointer, layout: layout)
    }
    final class Owner {}
    let (first, second) = (Owner(), Owner())
    #expect(arena.settle(in: home(first), epoch: 1))
    #expect(!arena.settle(in: home(second), epoch: 1))
    #expect(arena.settle(in: home(first), epoch: 1))
    #expect(rows[1].row.layout.toOpaque() == Unmanaged.passUnretained(layout).toOpaque())
  }
}
