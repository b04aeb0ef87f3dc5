import LogEngineTestSupport
import LogTools
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

/// Once its manifest is published a compaction counts, whether or not all slots of the index can be moved to its packs.
@Suite struct `A compaction that cannot read its own pack when the index is to name it` {
  enum Meanwhile: CaseIterable, Sendable { case nothing, opening, openingFromThePacks }

  /// Reads as a store does whose new packs cannot be read from the moment on at which a manifest names them.
  private final class Rot: Sendable {
    let disk = SimulatedFileSystem(seed: 1)
    private let state = Mutex<(isDue: Bool, isNamed: Bool, sound: [String: [UInt8]])>(
      (false, false, [:])
    )

    func strikeNextCompaction() { state.withLock { $0 = (true, false, [:]) } }

    func willCall(_ call: HookedFileSystem.Call) throws {
      let damages = state.withLock { state in
        guard state.isDue else { return false }
        if call.operation == .rename, call.path.contains("/manifest.") { state.isNamed = true }
        guard state.isNamed, call.operation == .read, call.path.hasSuffix(".pack") else {
          return false
        }
        return state.sound[call.path] == nil
      }
      guard damages else { return }
      let sound = disk.disk.bytes(of: call.path)
      state.withLock { $0.sound[call.path] = sound }
      try write([UInt8](repeating: 0xEE, count: 64), to: call.path, at: FileHeader.byteCount)
    }

    /// Makes the packs readable again.
    ///
    /// - Returns: How many were not.
    func heal() throws -> Int {
      let sound = state.withLock { state in
        defer { state = (false, false, [:]) }
        return state.sound
      }
      for (path, bytes) in sound { try write(bytes, to: path, at: 0) }
      return sound.count
    }

    private func write(_ bytes: [UInt8], to path: String, at offset: Int) throws {
      _ = try disk.open(path, .write).write(bytes.span.bytes, at: offset)
    }
  }

  private static func namesGonePack(_ key: UInt64, _ store: SimulatedStore) -> Bool {
    guard let table = store.engine.state.tables[1] else { return false }
    let location = table.pages.location(of: key)
    return location.isPacked && store.engine.state.files.isGone(location.segment)
  }

  @Test(arguments: Meanwhile.allCases)
  func `loses no row to the next one, which takes that pack`(meanwhile: Meanwhile) throws {
    let rot = Rot()
    let hooked = HookedFileSystem(rot.disk) { try rot.willCall($0) }
    var store = try SimulatedStore(rot.disk, hooked: hooked)
    for _ in 0..<8 { try store.insert(60) }
    try store.engine.compact()
    for key in 1...240 as ClosedRange<UInt64> { try store.delete(key) }
    rot.strikeNextCompaction()
    #expect(throws: StorageError.self) { try store.engine.compact() }
    try hooked.rethrow()
    try #require(try rot.heal() > 0)
    let rows = try store.rows()
    #expect(rows.count == 240)
    try #require(Self.namesGonePack(300, store))

    switch meanwhile {
    case .nothing: break
    case .opening:
      try store.engine.close()
      store = try SimulatedStore(rot.disk, hooked: hooked)
      try #require(store.engine.recovery.checkpoint != nil)
    case .openingFromThePacks:
      try store.engine.close()
      for path in store.checkpoints { try rot.disk.unlink(path) }
      store = try SimulatedStore(rot.disk, hooked: hooked)
    }
    #expect(try store.rows() == rows)
    for key in 241...360 as ClosedRange<UInt64> { try store.delete(key) }
    let report = try #require(try store.engine.compact().report)
    try #require(report.packCount > 0)
    let left = rows.filter { $0.key > 360 }
    #expect(try store.rows() == left)
    #expect(try SimulatedStore(on: store.disk).rows() == left)
    // And the slots name what is there.
    #expect(!Self.namesGonePack(400, store))
    #expect(try store.engine.verify().isSound)
  }
}
