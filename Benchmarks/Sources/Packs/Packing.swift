import CLZ4Floor
import Foundation
import Harness
import LogEngine
import RowFormat

/// The speed at which rows become a pack, beside LZ4 on the same bytes, and the size of the pack.
struct Packing {
  let plan: Plan
  let trips: PackSource

  func run(_ report: Report) throws {
    report.add(try speed())
  }

  private func speed() throws -> [Standing] {
    let bytes = try trips.rowBytes()
    let megabytes = Double(bytes.count) / 1e6
    var target = ByteBuffer(capacity: 128 << 10)
    return try withFolder(plan, "packing") { folder in
      let file = folder.appending(path: "trips.pack")
      return try RoundRobin(
        rounds: plan.choose(quick: 3, full: 9),
        [
          Entrant(.compaction, .floor, settings: "LZ4 of the rows as they are, in blocks of 64 KiB")
          {
            timeMegabytes(megabytes) {
              for start in stride(from: 0, to: bytes.count, by: 64 << 10) {
                let end = min(bytes.count, start + 64 << 10)
                compress(bytes.bytes.extracting(start..<end), into: &target)
              }
            }
          },
          Entrant(
            .compaction,
            .engine,
            settings: "PackWriter, defaults; the rows from a store in memory, the pack in a file",
            comparedWith: .init(.compaction, .floor),
            targets: [Target(.megabytesPerSecond, .share, .atLeast(0.5))]
          ) {
            try timeMegabytes(megabytes) { _ = try trips.pack(to: file) }
          },
        ]
      ).run()
    }
  }

  private func compress(_ block: RawSpan, into target: inout ByteBuffer) {
    target.removeAll()
    target.append(upTo: 128 << 10) { room in
      Int(
        block.withUnsafeBytes { source in
          room.withUnsafeMutableBytes { room in
            LZ4_compress_default(
              source.baseAddress?.assumingMemoryBound(to: CChar.self),
              room.baseAddress?.assumingMemoryBound(to: CChar.self),
              CInt(source.count),
              CInt(room.count)
            )
          }
        }
      )
    }
  }

  /// By the thread's own time: both work without waiting.
  private func timeMegabytes(_ megabytes: Double, _ work: () throws -> Void) rethrows -> Sample {
    let start = threadProcessorNanoseconds()
    try work()
    let elapsed = threadProcessorNanoseconds() - start
    return Sample([.megabytesPerSecond: megabytes * 1e9 / Double(max(elapsed, 1))])
  }
}
