import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

private let large = Photo(seed: 1, byteCount: 5000)
private let other = Photo(seed: 2, byteCount: 70_000)
private let small = Photo(seed: 3, byteCount: 100)

/// A row with a photo.
private func row(_ title: String, _ photo: Photo?) -> PhotoRow {
  PhotoRow(title: title, photo: photo)
}

@Suite struct `A value in a side file` {
  let disk = InMemoryFileSystem()

  @Test func `is read as it was written, also after the store is opened again`() throws {
    var store = try PhotoStore(on: disk)
    let key = try store.insert(row("Lisbon", large))
    try store.check([key: row("Lisbon", large)])
    #expect(try store.blob(of: key)?.byteCount == 5000)
    try store.engine.close()
    store = try PhotoStore(on: disk)
    try store.check([key: row("Lisbon", large)])
  }

  /// Nothing tells of the number any more but the manifest: neither the log, nor a pack, nor a checkpoint.
  @Test func `gives its number to no other, also when nothing is left of its row`() throws {
    var store = try PhotoStore(on: disk)
    let key = try store.insert(row("Lisbon", large))
    let gone = try #require(try store.blob(of: key)).id
    try store.commit([.delete(key)])
    store.settle()
    _ = try store.engine.compact()
    try store.engine.close()
    for name in try disk.list("/store/index") ?? [] { try disk.unlink("/store/index/\(name)") }
    store = try PhotoStore(on: disk)
    let other = try store.insert(row("Porto", other))
    #expect(try #require(try store.blob(of: other)).id > gone)
  }

  @Test func `stays in the row below the threshold`() throws {
    let store = try PhotoStore(on: disk)
    let key = try store.insert(row("Porto", small))
    try store.check([key: row("Porto", small)])
    #expect(try store.engine.blobUsage().fileCount == 0)
  }

  @Test func `is not read with its row`() throws {
    let store = try PhotoStore(on: disk)
    let key = try store.insert(row("Lisbon", large))
    let path = try #require(disk.blobPaths().first)
    try disk.unlink(path)
    let title = try store.engine.withRow(store.reference(key)) { row, _ in
      PhotoStore.layout.text(0, in: row)
    }
    #expect(title == "Lisbon")
  }

  @Test func `goes when it is replaced, and when its row goes`() throws {
    let store = try PhotoStore(on: disk)
    let first = try store.insert(row("Lisbon", large))
    let second = try store.insert(row("Porto", other))
    try store.commit([.replacePhoto(first, row("Lisbon", other))])
    store.settle()
    #expect(try store.engine.blobUsage().fileCount == 2)
    try store.commit([.replacePhoto(first, row("Lisbon", nil)), .delete(second)])
    store.settle()
    #expect(try store.engine.blobUsage().fileCount == 0)
    try store.check([first: row("Lisbon", nil)])
  }

  @Test func `stays when another column of its row changes, however often`() throws {
    let store = try PhotoStore(on: disk)
    let key = try store.insert(row("0", large))
    for number in 1...30 { try store.commit([.retitle(key, row("\(number)", large))]) }
    store.settle()
    try store.check([key: row("30", large)])
    #expect(try store.engine.blobUsage().fileCount == 1)
  }

  @Test func `stays while a view of the former state is open`() throws {
    let store = try PhotoStore(on: disk)
    let key = try store.insert(row("Lisbon", large))
    var view: ReadView? = store.engine.makeReadView()
    try store.commit([.replacePhoto(key, row("Lisbon", other))])
    let later = store.engine.makeReadView()
    try store.commit([.delete(key)])
    store.settle()
    #expect(try store.engine.blobUsage().fileCount == 2)
    try store.check([key: row("Lisbon", large)], in: view)
    try store.check([key: row("Lisbon", other)], in: later)
    view = nil
    store.settle()
    #expect(try store.engine.blobUsage().fileCount == 1)
    try store.check([key: row("Lisbon", other)], in: later)
  }

  @Test func `stays until the commit that took it is on disk, and no view sees it`() {
    let (first, second) = (BlobID(rawValue: 1), BlobID(rawValue: 2))
    var retired = RetiredBlobs()
    retired.add([first], sequence: 5, logEnd: 100)
    retired.add([second], sequence: 7, logEnd: 200)
    #expect(retired.takeReleasable(durableEnd: 99, oldestPin: .max) == [])
    #expect(retired.takeReleasable(durableEnd: 200, oldestPin: 4) == [])
    #expect(retired.takeReleasable(durableEnd: 199, oldestPin: .max) == [first])
    #expect(retired.count == 1)
    #expect(retired.takeReleasable(durableEnd: 200, oldestPin: 7) == [second])
    #expect(retired.count == 0)
  }

  @Test func `goes with its table`() throws {
    let store = try PhotoStore(on: disk)
    for _ in 0..<5 { try store.insert(row("Lisbon", large)) }
    var view: ReadView? = store.engine.makeReadView()
    try store.engine.apply([.removeTable(PhotoStore.table)])
    store.settle()
    #expect(try store.rows(in: view).count == 5)
    #expect(try store.engine.blobUsage().retiredCount == 5)
    view = nil
    store.settle()
    #expect(try store.engine.blobUsage().fileCount == 0)
  }

  @Test func `is written again whole when the row is put together from its deltas`() throws {
    var options = PhotoStore.options
    options.longestChain = 1
    let store = try PhotoStore(on: disk, options)
    let key = try store.insert(row("a", large))
    try store.commit([.retitle(key, row("b", large))])
    try store.commit([.replacePhoto(key, row("c", other))])
    try store.commit([.retitle(key, row("d", other))])
    store.settle()
    try store.check([key: row("d", other)])
    #expect(try store.engine.blobUsage().fileCount == 1)
  }

  @Test(arguments: [0, 1, 1 << 18, (1 << 18) + 1, 1_000_000])
  func `can be written and read piece by piece`(byteCount: Int) throws {
    let store = try PhotoStore(on: disk)
    let bytes = Photo(seed: 7, byteCount: byteCount).bytes
    var batch = store.engine.makeBatch()
    var offset = 0
    let reference = try batch.addBlob(chunk: 100_000) { room in
      let count = min(room.byteCount, bytes.count - offset, 70_001)
      for index in 0..<count {
        room.storeBytes(of: bytes[offset + index], toByteOffset: index, as: UInt8.self)
      }
      offset += count
      return count
    }
    var writer = RowWriter()
    writer.begin(PhotoStore.layout)
    writer.append(0, text: "streamed")
    writer.append(1, blob: reference)
    _ = writer.finish()
    batch.insert(store.reference(store.newKey()), layout: LayoutNumber(1), row: writer.bytes)
    try store.engine.commit(&batch)

    var read: [UInt8] = []
    try store.engine.openBlob(reference).forEachChunk(of: 4096) { piece in
      piece.withUnsafeBytes { read += Array($0) }
    }
    #expect(read == bytes)
  }
}

@Suite struct `A batch with side files` {
  let disk = InMemoryFileSystem()

  @Test func `leaves nothing behind if it is not committed`() throws {
    let store = try PhotoStore(on: disk)
    var batch = store.engine.makeBatch()
    try store.add(.insert(store.newKey(), row("Lisbon", large)), to: &batch)
    batch.removeAll()
    #expect(try store.engine.blobUsage().fileCount == 0)
    #expect(try disk.list("/store/tmp") == [])
  }

  @Test func `removes what no row of it owns`() throws {
    let store = try PhotoStore(on: disk)
    var batch = store.engine.makeBatch()
    _ = try batch.addBlob(large.bytes.span.bytes)
    try store.add(.insert(store.newKey(), row("Lisbon", other)), to: &batch)
    try store.engine.commit(&batch)
    #expect(try store.engine.blobUsage().fileCount == 1)
    #expect(try disk.list("/store/tmp") == [])
  }

  @Test func `cannot give a row the file of another`() throws {
    let store = try PhotoStore(on: disk)
    let first = try store.insert(row("Lisbon", large))
    let reference = try #require(try store.blob(of: first))
    var writer = RowWriter()
    writer.begin(PhotoStore.layout)
    writer.append(0, text: "thief")
    writer.append(1, blob: reference)
    _ = writer.finish()
    var batch = store.engine.makeBatch()
    let thief = store.reference(store.newKey())
    batch.insert(thief, layout: LayoutNumber(1), row: writer.bytes)
    #expect(throws: StorageError.foreignBlob(thief, reference)) {
      try store.engine.commit(&batch)
    }
  }

  @Test func `can be larger than what a process may hold open`() throws {
    let store = try PhotoStore(on: disk)
    var expected: [UInt64: PhotoRow] = [:]
    let changes = (0..<100).map { number -> PhotoStore.Change in
      .insert(store.newKey(), row("\(number)", Photo(seed: UInt64(number), byteCount: 200)))
    }
    try store.commit(changes)
    expected.apply(changes)
    try store.check(expected)
    #expect(try store.engine.blobUsage().fileCount == 100)
  }

  @Test func `keeps the photo that another batch gave the row first`() throws {
    let store = try PhotoStore(on: disk)
    let key = try store.insert(row("Lisbon", large))
    var slower = store.engine.makeBatch()
    try store.add(.retitle(key, row("Porto", large)), to: &slower)
    try store.commit([.replacePhoto(key, row("Lisbon", other))])
    try store.engine.commit(&slower)
    store.settle()
    try store.check([key: row("Porto", other)])
    #expect(try store.engine.blobUsage().fileCount == 1)
  }

  @Test func `replaces the photo that another batch gave the row first`() throws {
    let store = try PhotoStore(on: disk)
    let key = try store.insert(row("Lisbon", large))
    var slower = store.engine.makeBatch()
    let third = Photo(seed: 9, byteCount: 300)
    try store.add(.replacePhoto(key, row("Porto", third)), to: &slower)
    try store.commit([.replacePhoto(key, row("Lisbon", other))])
    try store.engine.commit(&slower)
    store.settle()
    try store.check([key: row("Porto", third)])
    #expect(try store.engine.blobUsage().fileCount == 1)
  }

  @Test func `leaves the row's photo alone if it was read before another replaced it`() throws {
    var options = PhotoStore.options
    options.longestChain = 0
    let store = try PhotoStore(on: disk, options)
    let key = try store.insert(row("Lisbon", large))
    var stale = RowWriter()
    stale.begin(PhotoStore.layout)
    stale.append(0, text: "Porto")
    stale.append(1, blob: try #require(try store.blob(of: key)))
    _ = stale.finish()
    try store.commit([.replacePhoto(key, row("Lisbon", other))])
    var batch = store.engine.makeBatch()
    var changed = ColumnSet()
    changed.insert(0)
    batch.update(
      store.reference(key),
      layout: LayoutNumber(1),
      changed: changed,
      row: stale.bytes
    )
    try store.engine.commit(&batch)
    store.settle()
    try store.check([key: row("Porto", other)])
  }
}
