import LogEngineTestSupport
import LogTools
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

/// Names and counts that no store comes to, under right checksums.
@Suite struct `A number at its limit` {
  /// A store with packs, a checkpoint and commits behind both, as a process that is killed leaves it.
  private func makeStore() throws -> (Disk, rows: [UInt64: String]) {
    let store = try SimulatedStore()
    for _ in 0..<6 { try store.insert(60) }
    try store.engine.compact()
    try store.insert(10)
    try store.engine.checkpoint()
    try store.insert(10)
    return (store.disk, try store.rows())
  }

  private func adding(_ bytes: [UInt8], as path: String, to disk: Disk) throws -> Disk {
    let fileSystem = SimulatedFileSystem(seed: 3, disk: disk)
    let file = try fileSystem.open(path, .create)
    if !bytes.isEmpty { _ = try file.write(bytes.span.bytes, at: 0) }
    return fileSystem.disk
  }

  /// Gives the store another manifest, with a number of its own or the next.
  private func changing(
    _ disk: Disk,
    _ change: (inout Manifest) -> Void
  ) throws -> Disk {
    let fileSystem = SimulatedFileSystem(seed: 3, disk: disk)
    let paths = StorePaths(root: SimulatedStore.path)
    let files = ManifestFiles(paths: paths, fileSystem: fileSystem, synchronizes: true)
    var manifest = try #require(try files.readNewest())
    manifest.number += 1
    change(&manifest)
    try files.publish(manifest)
    return fileSystem.disk
  }

  /// Does with a store what there is to do, and makes sure that what it acknowledges stays.
  private func use(_ disk: Disk) throws {
    for mode in [EngineOptions.Mode.readOnly, .readOnlyUpToDamage, .readWrite] {
      do {
        let store = try SimulatedStore(on: disk, mode: mode)
        try store.engine.scan(1) { _, _, _ in .proceed }
        guard mode == .readWrite else { continue }
        try store.insert(60)
        try store.engine.checkpoint()
        try store.engine.compact()
        for _ in 0..<6 { try store.insert(60) }
        let rows = try store.rows()
        try store.engine.close()
        #expect(try SimulatedStore(on: store.disk).rows() == rows)
      } catch is StorageError {
        continue
      }
    }
    _ = try? StorageEngine.verify(
      at: SimulatedStore.path,
      fileSystem: SimulatedFileSystem(seed: 4, disk: disk)
    )
  }

  @Test(arguments: [
    "index/ffffffffffffffff.ckpt", "index/4000000000000001.ckpt", "pack/ffffffffffffffff.pack",
    "pack/00000000ffffffff.pack", "pack/0000000000400000.pack", "log/ffffffffffffffff.seg",
    "log/0000000000400000.seg", "manifest.ffffffffffffffff",
  ])
  func `in a name is passed over`(name: String) throws {
    let (disk, rows) = try makeStore()
    let store = try SimulatedStore(on: adding([], as: "/store/" + name, to: disk))
    #expect(try store.rows() == rows)
    for _ in 0..<4 { try store.insert(60) }
    try store.engine.checkpoint()
    try store.engine.compact()
    let later = try store.rows()
    try store.engine.close()
    #expect(try SimulatedStore(on: store.disk).rows() == later)
    #expect(try SimulatedStore(on: store.disk, mode: .readOnly).rows() == later)
  }

  @Test(arguments: [.max, .max - 1, 1 << 63, 1 << 62 + 1] as [UInt64])
  func `of a manifest is passed over, whatever that says`(number: UInt64) throws {
    let (disk, rows) = try makeStore()
    let forged = try changing(disk) { manifest in
      manifest.number = number
      manifest.base = nil
    }
    let newest = try #require(disk.paths.filter { $0.contains("/manifest.") }.max())
    let both = try adding(disk.bytes(of: newest), as: newest, to: forged)
    let store = try SimulatedStore(on: both)
    #expect(try store.rows() == rows)
    try store.insert(1)
    try store.engine.close()
    #expect(try SimulatedStore(on: store.disk).rows().count == rows.count + 1)
  }

  @Test func `of a manifest that can be read keeps writers out, and changes nothing`() throws {
    let (disk, rows) = try makeStore()
    let forged = try changing(disk) { $0.number = 1 << 61 + 1 }
    let fileSystem = SimulatedFileSystem(seed: 2, disk: forged)
    #expect(throws: StorageError.numbersSpent(path: SimulatedStore.path, limit: 1 << 61)) {
      try SimulatedStore(fileSystem)
    }
    #expect(try SimulatedStore(on: fileSystem.disk, mode: .readOnly).rows() == rows)
  }

  @Test(arguments: [64, 72, 96], [.max, 1 << 63, 1 << 62 + 8, 1 << 62, 1 << 61 + 8] as [UInt64])
  func `of a segment's header does not trap`(offset: Int, value: UInt64) throws {
    let (disk, _) = try makeStore()
    for segment in disk.paths where segment.hasSuffix(".seg") {
      var forged = ForgedStore(disk)
      forged.forge(segment, at: offset, value, byteCount: 8)
      var disk = disk
      forged.write(to: &disk)
      try use(disk)
    }
  }

  @Test(arguments: [.max, 1 << 63, 1 << 62, 1 << 61 + 8] as [UInt64])
  func `of a manifest's fields does not trap`(value: UInt64) throws {
    let (disk, _) = try makeStore()
    try use(changing(disk) { $0.durableEnd = value })
    try use(changing(disk) { $0.sequence = CommitSequence(value) })
    try use(changing(disk) { $0.checkpoint = value })
    try use(changing(disk) { $0.base?.lowWaterMark = value })
    try use(changing(disk) { $0.base?.logPosition = value })
    // The segment behind the base agrees.
    var agreeing = try changing(disk) { $0.base?.sequence = value }
    let segment = try #require(agreeing.paths.first { $0.hasSuffix(".seg") })
    var forged = ForgedStore(agreeing)
    forged.forge(segment, at: 96, value, byteCount: 8)
    forged.write(to: &agreeing)
    try use(agreeing)
  }

  /// A sound store comes there after four million segments and packs.
  @Test(
    arguments: Thoroughness.some(
      [4_194_300, 4_194_301, 4_194_302, 4_194_303, 4_194_304, .max] as [UInt32]
    )
  )
  func `of segments ends writing in time, and nothing else`(next: UInt32) throws {
    let (disk, _) = try makeStore()
    let forged = try changing(disk) { $0.nextSegment = SegmentID(rawValue: next) }
    let store = try SimulatedStore(on: forged)
    let spent = StorageError.numbersSpent(
      path: SimulatedStore.path,
      limit: UInt64(SegmentID.maximum.rawValue)
    )
    let steps: [() throws -> Void] = [
      { try store.insert(60) }, { _ = try store.engine.compact() },
    ]
    var refusals = 0
    // By then commits alone have filled more segments than there are numbers.
    for _ in 0..<60 where refusals < 6 {
      for step in steps {
        do {
          try step()
        } catch {
          #expect(error as? StorageError == spent)
          refusals += 1
        }
      }
    }
    #expect(refusals > 0)
    let rows = try store.rows()
    try store.engine.close()
    #expect(try SimulatedStore(on: store.disk).rows() == rows)
    // The way out: a store that counts from the beginning.
    let fileSystem = SimulatedFileSystem(seed: 5, disk: store.disk)
    _ = try StorageEngine.salvage(
      at: SimulatedStore.path,
      to: "/rescued",
      fileSystem: fileSystem
    )
    var options = EngineOptions()
    options.background = .caller
    let rescued = try StorageEngine.open(
      at: "/rescued",
      options: options,
      fileSystem: fileSystem
    )
    #expect(rescued.rowCount(of: 1) == rows.count)
    #expect(try rescued.requireWriter().preparation.nextID < SegmentID(rawValue: 100))
    try rescued.close()
  }
}
