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

  private final class Owner {}

  /// Where objects would be registered whose context is this object; a fault asks nothing else of it but to stay.
  private func home(_ owner: Owner, _ layout: RowLayout) -> RowArena.Home {
    let pointer = Unmanaged.passUnretained(owner).toOpaque()
    let layout = Unmanaged.passUnretained(layout).toOpaque()
    return RowArena.Home(
      context: pointer,
      connection: pointer,
      map: pointer,
      descriptor: pointer,
      layout: layout
    )
  }

  @Test func `belong to one context as long as there are objects of them`() throws {
    let arena = try #require(collect([10, 10]).first?.arena)
    let (old, new) = (RowLayout([.integer]), RowLayout([.text]))
    let (first, second) = (Owner(), Owner())
    #expect(arena.settle(in: home(first, old), epoch: 1, heldBy: .app))
    arena.addFault()
    arena.addFault()
    #expect(!arena.settle(in: home(second, new), epoch: 2, heldBy: .app))
    #expect(arena.settle(in: home(first, old), epoch: 3, heldBy: .app))
    #expect(arena.epoch == 1)
    let unmanaged = Unmanaged.passUnretained(arena)
    RowArena.removeFault(of: unmanaged, in: home(first, old))
    #expect(!arena.settle(in: home(second, new), epoch: 4, heldBy: .app))
    RowArena.removeFault(of: unmanaged, in: home(first, old))
    #expect(arena.settle(in: home(second, new), epoch: 5, heldBy: .app))
    #expect(arena.epoch == 5)
    #expect(arena.home == home(second, new))
  }

  @Test func `are of the age that a new context knows, also at the address of a former one`() throws
  {
    let rows = collect([10])
    let arena = try #require(rows[0].arena)
    let layout = RowLayout([.integer])
    let owner = Owner()
    #expect(arena.settle(in: home(owner, layout), epoch: 7, heldBy: .app))
    arena.addFault()
    RowArena.removeFault(of: .passUnretained(arena), in: home(owner, layout))
    #expect(arena.settle(in: home(owner, layout), epoch: 2, heldBy: .app))
    #expect(arena.epoch == 2)
    #expect(rows[0].row.layout.toOpaque() == Unmanaged.passUnretained(layout).toOpaque())
  }

  @Test func `keep their context and themselves while there are objects of them`() throws {
    weak var weakOwner: Owner?
    weak var weakArena: RowArena?
    var last: (arena: Unmanaged<RowArena>, home: RowArena.Home)?
    let layout = RowLayout([.integer])
    do {
      let owner = Owner()
      let arena = try #require(collect([10]).first?.arena)
      weakOwner = owner
      weakArena = arena
      #expect(arena.settle(in: home(owner, layout), epoch: 1, heldBy: .app))
      for _ in 0..<3 { arena.addFault() }
      last = (.passUnretained(arena), home(owner, layout))
    }
    let (arena, home) = try #require(last)
    for _ in 0..<3 {
      #expect(weakOwner != nil && weakArena != nil)
      RowArena.removeFault(of: arena, in: home)
    }
    #expect(weakOwner == nil && weakArena == nil)
  }
}
