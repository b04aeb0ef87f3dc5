package import LogEngine
import RowFormat

/// A store of one table, each row of which has a title and perhaps a photo: in a side file if it is
/// large, in the row if not.
package final class PhotoStore {
  package let engine: StorageEngine
  /// How large a photo is that goes to a side file.
  package let threshold: Int

  package static let layout = RowLayout([.text, .blob])
  package static let table: UInt16 = 1
  /// The number of commits that make the table.
  package static let firstCommit = 1

  package enum Change: Hashable, Sendable {
    case insert(UInt64, PhotoRow)
    case replacePhoto(UInt64, PhotoRow)
    /// Gives the row another title and keeps the photo.
    case retitle(UInt64, PhotoRow)
    case delete(UInt64)
  }

  package init(
    on fileSystem: any FileSystem,
    at path: String = "/store",
    _ options: EngineOptions = PhotoStore.options,
    threshold: Int = 100
  ) throws {
    engine = try StorageEngine.open(at: path, options: options, fileSystem: fileSystem)
    self.threshold = threshold
    if options.mode == .readWrite, engine.catalogue.tables.isEmpty {
      try engine.apply([
        .addTable(name: "Photo"),
        .addColumn(table: 1, name: "title", type: .text, isNullable: false),
        .addColumn(table: 1, name: "photo", type: .blob, isNullable: true),
        .setLayout(table: 1, columns: [1, 2]),
      ])
    }
  }

  package static var options: EngineOptions {
    var options = EngineOptions()
    options.background = .caller
    options.reads = .copied
    options.smallestSegment = 16 << 10
    options.largestSegment = 32 << 10
    return options
  }

  // MARK: Writing

  package func newKey() -> UInt64 { engine.reserveKeys(1, in: Self.table).lowerBound }

  /// Makes one commit.
  @discardableResult
  package func commit(_ changes: [Change]) throws -> CommitSequence {
    var batch = engine.makeBatch()
    for change in changes { try add(change, to: &batch) }
    return try engine.commit(&batch)
  }

  @discardableResult
  package func insert(_ row: PhotoRow) throws -> UInt64 {
    let key = newKey()
    try commit([.insert(key, row)])
    return key
  }

  package func add(_ change: Change, to batch: inout CommitBatch) throws {
    switch change {
    case .insert(let key, let row):
      let bytes = try encode(row, .new, into: &batch)
      batch.insert(reference(key), layout: LayoutNumber(1), row: bytes.span.bytes)
    case .replacePhoto(let key, let row):
      let bytes = try encode(row, .new, into: &batch)
      update(key, changed: [0, 1], bytes, &batch)
    case .retitle(let key, let row):
      let kept = try storedPhoto(of: key)
      let bytes = try encode(row, .kept(kept), into: &batch)
      update(key, changed: [0], bytes, &batch)
    case .delete(let key): batch.delete(reference(key))
    }
  }

  private func update(
    _ key: UInt64,
    changed columns: [Int],
    _ bytes: [UInt8],
    _ batch: inout CommitBatch
  ) {
    var changed = ColumnSet()
    for column in columns { changed.insert(column) }
    batch.update(
      reference(key),
      layout: LayoutNumber(1),
      changed: changed,
      row: bytes.span.bytes
    )
  }

  /// Where a row's photo comes from.
  private enum Source {
    case new
    case kept([UInt8]?)
  }

  private func encode(
    _ row: PhotoRow,
    _ source: Source,
    into batch: inout CommitBatch
  ) throws -> [UInt8] {
    var writer = RowWriter()
    writer.begin(Self.layout)
    writer.append(0, text: row.title)
    switch source {
    case .kept(let bytes):
      if let bytes { writer.append(1, bytes: bytes.span.bytes) }
    case .new:
      if let photo = row.photo {
        let bytes = photo.bytes
        if bytes.count > threshold {
          writer.append(1, blob: try batch.addBlob(bytes.span.bytes))
        } else {
          writer.append(1, inlineBlob: bytes.span.bytes)
        }
      }
    }
    let range = writer.finish()
    return writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
  }

  package func reference(_ key: UInt64) -> RowReference {
    RowReference(table: Self.table, key: key)
  }

  // MARK: Reading

  /// The bytes of the photo column as they stand in the row.
  private func storedPhoto(of key: UInt64) throws -> [UInt8]? {
    try engine.withRow(reference(key)) { row, _ -> [UInt8]? in
      if Self.layout.isNull(1, in: row) { return nil }
      return row.extracting(Self.layout.range(1, in: row)).withUnsafeBytes { Array($0) }
    } ?? nil
  }

  /// What the row says of its side file.
  package func blob(of key: UInt64) throws -> BlobReference? {
    try engine.withRow(reference(key)) { row, _ in
      Self.layout.blob(1, in: row)?.reference
    } ?? nil
  }

  /// Every row, as titles and the bytes of photos.
  package func rows(
    in view: ReadView? = nil
  ) throws -> [UInt64: (title: String, photo: [UInt8]?)] {
    let view = view ?? engine.makeReadView()
    var rows: [UInt64: (title: String, photo: [UInt8]?)] = [:]
    try view.scan(Self.table) { key, _, row in
      rows[key] = (Self.layout.text(0, in: row), try photo(in: row, view))
      return .proceed
    }
    return rows
  }

  private func photo(in row: RawSpan, _ view: ReadView) throws -> [UInt8]? {
    switch Self.layout.blob(1, in: row) {
    case nil: nil
    case .inline(let range): row.extracting(range).withUnsafeBytes { Array($0) }
    case .external(let reference):
      try view.openBlob(reference).withBytes { $0.withUnsafeBytes { Array($0) } }
    }
  }

  /// Compares what the store holds with what it should.
  package func check(_ expected: [UInt64: PhotoRow], in view: ReadView? = nil) throws {
    let found = try rows(in: view)
    guard Set(found.keys) == Set(expected.keys) else {
      throw Mismatch("the rows are \(found.keys.sorted()), not \(expected.keys.sorted())")
    }
    for (key, row) in expected {
      guard found[key]?.title == row.title else {
        throw Mismatch("row \(key) is \(found[key]?.title ?? "-"), not \(row.title)")
      }
      guard found[key]?.photo == row.photo?.bytes else {
        throw Mismatch("the photo of row \(key) is not the one it was given")
      }
    }
  }

  /// Lets the background finish what there is to do.
  package func settle() {
    repeat { engine.performBackgroundWork() } while engine.isSweepingBlobs
  }
}

extension [UInt64: PhotoRow] {
  /// Makes the changes of a commit.
  package mutating func apply(_ changes: [PhotoStore.Change]) {
    for change in changes {
      switch change {
      case .insert(let key, let row), .replacePhoto(let key, let row), .retitle(let key, let row):
        self[key] = row
      case .delete(let key): self[key] = nil
      }
    }
  }

  /// How many photos stand in side files, and how many bytes those have.
  package func external(above threshold: Int) -> (count: Int, byteCount: Int) {
    let sizes = values.compactMap(\.photo?.byteCount).filter { $0 > threshold }
    return (sizes.count, sizes.reduce(0) { $0 + $1 + 64 })
  }
}
