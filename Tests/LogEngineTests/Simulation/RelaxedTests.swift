import Foundation
import LogEngine
import LogEngineTestSupport
import RowFormat
import Testing

@Suite struct `A store that synchronizes once an hour` {
  @Test func `does not let much more than eight megabytes wait for it`() throws {
    let synchronized = DispatchSemaphore(value: 0)
    let fileSystem = SimulatedFileSystem(
      seed: 1,
      observer: { call, _ in
        if call.operation == .synchronize && call.path.hasSuffix(".seg") { synchronized.signal() }
      }
    )
    var options = EngineOptions()
    options.durability = .relaxed(interval: .seconds(3600))
    options.reads = .copied
    options.smallestSegment = 64 << 20
    let engine = try StorageEngine.open(at: "/store", options: options, fileSystem: fileSystem)
    try engine.apply(Workload.firstTables)
    // The new segment's header, and the first commit, which woke the background.
    for _ in 0..<2 { #expect(synchronized.wait(timeout: .now() + 600) == .success) }

    let layout = RowLayout([.integer, .text, .references, .bool, .date])
    var writer = RowWriter()
    writer.begin(layout)
    writer.append(1, bytes: [UInt8](repeating: 7, count: 1 << 20).span.bytes)
    _ = writer.finish()
    var batch = engine.makeBatch()
    for key in engine.reserveKeys(9, in: 1) {
      batch.insert(RowReference(table: 1, key: key), layout: LayoutNumber(1), row: writer.bytes)
      try engine.commit(&batch)
    }
    // The limit on waiting keeps a failure from lasting for ever: on a busy machine the background waits long.
    #expect(synchronized.wait(timeout: .now() + 600) == .success)
    try engine.close()
  }
}
