import LogEngine
import LogTools
import RowFormat
import Testing

@Suite struct `Inspecting a store's files` {
  private func makeStore() throws -> (MemoryStore, StoreInspection) {
    let store = try MemoryStore()
    try store.work(30, textLength: 6000)
    return (store, StoreInspection(at: store.path, fileSystem: store.disk))
  }

  private func parts(_ inspection: StoreInspection, _ segment: SegmentID) throws -> [SegmentPart] {
    var parts: [SegmentPart] = []
    try inspection.forEachPart(of: segment) { part in
      parts.append(part)
      return .proceed
    }
    return parts
  }

  @Test func `lists segments, frames and records, of which nothing is left out`() throws {
    let (store, inspection) = try makeStore()
    let segments = try inspection.segments()
    #expect(segments.map(\.path) == store.segments)
    #expect(segments.allSatisfy { $0.damage == nil })
    #expect(segments.dropLast().allSatisfy { $0.declaredEnd != nil })
    var commits: [CommitSequence] = []
    var recordCount = 0
    for segment in segments {
      var end = 4096
      for part in try parts(inspection, segment.segment) {
        #expect(part.range.lowerBound == end)
        end = part.range.upperBound
        guard case .frame(let frame) = part else { continue }
        #expect(frame.isIntact && frame.continuesChain && frame.isHeaderProven)
        if frame.kind == .commit { commits.append(frame.sequence) }
        if frame.kind == .commit { #expect(try inspection.origin(of: frame) != nil) }
        try inspection.forEachRecord(in: frame) { record, body in
          recordCount += 1
          #expect(body.byteCount == record.bodyByteCount)
          #expect(record.address.segment == segment.segment)
          return .proceed
        }
      }
      #expect(end == segment.fileByteCount)
    }
    #expect(commits.map(\.rawValue) == (1...UInt64(store.history.count - 1)).map { $0 })
    var changeCount = 0
    try store.engine.forEachCommit { commit in
      try commit.forEachChange { _ in
        changeCount += 1
        return .proceed
      }
      return .proceed
    }
    #expect(recordCount == changeCount)
  }

  @Test func `shows the manifests and checkpoints`() throws {
    let (store, inspection) = try makeStore()
    try store.close()
    let checkpoint = try #require(inspection.checkpoints().last?.content)
    #expect(checkpoint.commit.rawValue == UInt64(store.history.count - 1))
    #expect(checkpoint.pageCount == 1)
    let path = try #require(inspection.checkpoints().last?.path)
    try store.write([1, 2, 3], to: path)
    #expect(try inspection.checkpoints().last?.damage != nil)
    let manifests = try inspection.manifests()
    #expect(manifests.count == 2)
    let newest = try #require(manifests.last?.content)
    #expect(newest.isClean)
    #expect(newest.lastCommit.rawValue == UInt64(store.history.count - 1))
    #expect(newest.catalogue.tables.map(\.name) == ["numbers"])
  }

  @Test func `goes on after any damaged byte`() throws {
    let (store, inspection) = try makeStore()
    store.abandon()
    let path = store.segments[1]
    let id = SegmentID(rawValue: 2)
    let whole = try store.bytes(of: path)
    let expected = try parts(inspection, id)
    let end = try #require(expected.last).range.upperBound
    for index in stride(from: 0, to: whole.count, by: 61) {
      var bytes = whole
      bytes[index] ^= 0x20
      try store.write(bytes, to: path)
      let found = try parts(inspection, id)
      #expect(found.first?.range.lowerBound == 4096)
      #expect(
        zip(found, found.dropFirst()).allSatisfy { $0.range.upperBound == $1.range.lowerBound }
      )
      #expect(found.last?.range.upperBound == end)
      // One byte costs one frame; the one after it cannot be linked to it.
      let lost = expected.filter { !found.contains($0) }
      if index >= 4096 { #expect(lost.count <= 2, "byte \(index)") }
      for case .frame(let frame) in found {
        try inspection.forEachRecord(in: frame) { _, _ in .proceed }
      }
    }
  }

  @Test func `shows a file of any length`() throws {
    let (store, inspection) = try makeStore()
    store.abandon()
    let path = store.segments[1]
    let whole = try store.bytes(of: path)
    for length in [0, 1, 39, 4095, 4096, 4100, 4135, 4136, 4137, 9001, whole.count - 1] {
      try store.write(Array(whole.prefix(length)), to: path)
      let found = try parts(inspection, SegmentID(rawValue: 2))
      #expect((found.last?.range.upperBound ?? length) <= max(length, 4096))
      let segments = try inspection.segments()
      #expect(segments[1].fileByteCount == length)
      #expect((segments[1].damage == nil) == (length >= 4096))
      try inspection.withBytes(of: SegmentID(rawValue: 2), in: 0..<100_000) { bytes in
        #expect(bytes.byteCount == length)
      }
    }
  }

  @Test func `finds the records that are whole in a damaged frame`() throws {
    let store = try MemoryStore()
    try store.commit((1...20).map { .insert($0, "row") })
    let id = SegmentID(rawValue: 1)
    let inspection = store.engine.inspection
    let frames = try parts(inspection, id).compactMap { part -> FrameDescription? in
      if case .frame(let frame) = part { frame } else { nil }
    }
    let frame = try #require(frames.last)
    var bytes = try store.bytes(of: store.segments[0])
    bytes[frame.payloadRange.lowerBound + 200] ^= 1
    try store.write(bytes, to: store.segments[0])
    guard case .frame(let damaged) = try parts(inspection, id)[1] else {
      Issue.record("the frame is gone")
      return
    }
    #expect(!damaged.isIntact)
    var count = 0
    try inspection.forEachRecord(in: damaged) { _, _ in
      count += 1
      return .proceed
    }
    #expect(count == 19)
  }

  @Test func `says that there is nothing where there is nothing`() {
    let inspection = StoreInspection(at: "nowhere", fileSystem: InMemoryFileSystem())
    #expect(throws: StorageError.missingStore(path: "nowhere")) { try inspection.segments() }
    #expect(throws: StorageError.missingStore(path: "nowhere")) { try inspection.manifests() }
    #expect(throws: StorageError.self) {
      try inspection.forEachPart(of: SegmentID(rawValue: 1)) { _ in .proceed }
    }
  }
}
