import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

/// Each record of a row names the one before it, and says so under a right checksum in a store from a stranger, too.
@Suite struct `A row whose records name each other` {
  private static let layout = LayoutNumber(1)

  private static func isInconsistent(_ error: any Error) -> Bool {
    guard case .corruption(let corruption) = error as? StorageError,
      case .inconsistent(.record, table: 1, key: 1) = corruption.problem
    else { return false }
    return true
  }

  /// How far forward the first of two changes points: to itself, to the second one, or to where nothing is.
  enum Target: CaseIterable, Sendable { case itself, successor, beyond }

  private func place(_ target: Target, _ first: RecordPlace, _ second: RecordPlace) -> RecordPlace {
    switch target {
    case .itself: first
    case .successor: second
    case .beyond: RecordPlace(segment: second.segment, offset: second.offset + (1 << 20))
    }
  }

  @Test(arguments: Target.allCases, [EngineOptions.Mode.readOnly, .readWrite])
  func `is not opened`(target: Target, mode: EngineOptions.Mode) throws {
    let store = try SimulatedStore()
    try store.insert(1)
    try store.replace(1, text: "first")
    let table = try #require(store.engine.state.tables[1])
    let first = table.pages.location(of: 1).place
    try store.replace(1, text: "second")
    let second = table.pages.location(of: 1).place
    // In the last segment it might be taken for what a crash has left.
    while store.segments.count < 3 { try store.insert(40) }
    var forged = ForgedStore(store.disk)
    forged.forge(
      store.engine.state.paths.segment(first.segment),
      at: first.offset + RecordHeader.shortByteCount,
      place(target, first, second).rawValue,
      byteCount: 8
    )
    var disk = store.disk
    forged.write(to: &disk)
    #expect {
      try SimulatedStore(on: disk, mode: mode)
    } throws: {
      Self.isInconsistent($0)
    }
  }

  /// As of a checkpoint, of which only the index's slots were checked.
  private func makeOpenStore(_ target: Target) throws -> (MemoryStore, ReadView) {
    let store = try MemoryStore()
    try store.commit([.insert(1, "row")])
    let text = String(repeating: "x", count: 3000)
    for number in 0..<20 { try store.commit([.insert(Int64(number), text)]) }
    let view = store.engine.makeReadView()
    let table = try #require(store.engine.state.tables[1])
    try store.commit([.replace(1, 2, "first")])
    let first = table.pages.location(of: 1).place
    try store.commit([.replace(1, 3, "second")])
    let second = table.pages.location(of: 1).place
    let path = store.engine.state.paths.segment(first.segment)
    var bytes = try store.bytes(of: path)
    let start = first.offset
    let found = RecordHeader(decoding: bytes.span.bytes.extracting(start..<bytes.count))
    let header = try #require(found)
    bytes.store(place(target, first, second).rawValue, at: start + RecordHeader.shortByteCount)
    let record = start..<(start + header.byteCount + header.bodyLength)
    let checksum = RecordHeader.checksum(of: bytes.span.bytes.extracting(record))
    bytes.store(checksum, at: start + 20)
    try store.write(bytes, to: path)
    return (store, view)
  }

  @Test(arguments: [Target.itself, .successor])
  func `is not gone round by a view of an earlier commit`(target: Target) throws {
    let (_, view) = try makeOpenStore(target)
    #expect {
      try MemoryStore.rows(of: view)
    } throws: {
      Self.isInconsistent($0)
    }
  }

  @Test(arguments: [Target.itself, .successor])
  func `is not gone round by a compaction of what was before`(target: Target) throws {
    let (store, view) = try makeOpenStore(target)
    #expect {
      try store.engine.compact(keeping: .nothing)
    } throws: {
      Self.isInconsistent($0)
    }
    withExtendedLifetime(view) {}
  }
}

extension [UInt8] {
  fileprivate mutating func store<T: FixedWidthInteger>(_ value: T, at offset: Int) {
    for byte in 0..<(T.bitWidth / 8) {
      self[offset + byte] = UInt8(truncatingIfNeeded: value >> T(byte * 8))
    }
  }
}
