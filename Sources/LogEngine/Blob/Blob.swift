import LogFormat
public import RowFormat
import Synchronization

/// The bytes of a value in a side file, open for reading.
///
/// Opening a blob checks that the file is the one that the row refers to, and reads none of the value's bytes. The bytes can be
/// read for as long as this object lives, even after the row is gone.
///
/// A blob that is mapped takes address space and no file descriptor. One that could not be mapped, or is not to be, takes a
/// descriptor: do not keep many.
public final class Blob: Sendable {
  /// The row's reference to the file.
  public let reference: BlobReference
  private let path: String
  private let source: Source
  private let events: EventRelay
  private let isChecked = Atomic<Bool>(false)

  /// The size of the value, in bytes.
  public var byteCount: Int { reference.byteCount }

  /// What the bytes are read from.
  private enum Source {
    case file(any OpenFile)
    /// The mapping stays when the file is closed.
    case mapping(MappedFile)
  }

  /// Opens a blob.
  ///
  /// - Parameters:
  ///   - reference: The reference to the blob in its row.
  ///   - store: The store the file must belong to, if that is known.
  ///   - files: The file system that holds the value's file.
  ///   - reads: Whether its bytes are mapped.
  ///   - events: Receives reports of damage.
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if the file is missing or belongs to another value.
  init(
    _ reference: BlobReference,
    of store: StoreIdentifier?,
    in files: Blobs,
    reads: ReadMethod,
    events: EventRelay
  ) throws(StorageError) {
    self.reference = reference
    self.events = events
    path = files.paths.blob(reference.id)
    let file: any OpenFile
    do throws(StorageError) {
      file = try files.fileSystem.open(path, .read)
    } catch .missingFile {
      throw .corruption(Corruption(path: path, offset: 0, problem: .missing(.blob)))
    }
    let bytes = try file.readBytes(BlobFileHeader.byteCount, at: 0)
    let header = try BlobFileHeader(decoding: bytes.bytes, path: path)
    try header.check(reference, of: store ?? header.store, path: path)
    // A mapping must not reach beyond the file: an access past its end ends the process.
    let needed = BlobFileHeader.byteCount + reference.byteCount
    let size = try file.size()
    guard size == needed else {
      let problem = Corruption.Problem.truncated(.blob, needed: needed, available: size)
      throw .corruption(Corruption(path: path, offset: size, problem: problem))
    }
    // A process may have only so many mappings; it can read all the same.
    if reads == .mapped, let mapping = try? file.map(needed, .sharedReadOnly) {
      source = .mapping(mapping)
    } else {
      source = .file(file)
    }
  }
}

// MARK: Reading

extension Blob {
  /// Lends all bytes, after checking them.
  ///
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if the checksum does not match, or any error that `body` throws.
  /// - Complexity: The first call reads the whole file. Without a mapping each does, into memory.
  public func withBytes<R>(_ body: (RawSpan) throws -> R) throws -> R {
    if case .mapping(let mapping) = source {
      return try mapping.withBytes { bytes in
        let value = bytes.extracting(BlobFileHeader.byteCount..<bytes.byteCount)
        try check(value)
        return try body(value)
      }
    }
    var buffer = ByteBuffer(capacity: byteCount)
    try buffer.append(upTo: byteCount) { (room) throws(StorageError) in
      try read(into: &room, at: 0)
    }
    try check(buffer.bytes)
    return try body(buffer.bytes)
  }

  /// Whether the bytes ``withBytes(_:)`` lends stay where they are for as long as this object lives.
  public var isMapped: Bool { if case .mapping = source { true } else { false } }

  /// Reads some of the bytes without checking them.
  ///
  /// - Returns: The number of bytes read; less than the buffer holds only at the end of the value.
  public func read(into buffer: inout MutableRawSpan, at offset: Int) throws(StorageError) -> Int {
    guard 0..<byteCount ~= offset else { return 0 }
    var room = buffer._mutatingExtracting(first: min(buffer.byteCount, byteCount - offset))
    let start = BlobFileHeader.byteCount + offset
    switch source {
    case .file(let file): return try file.read(into: &room, at: start)
    case .mapping(let mapping):
      let count = room.byteCount
      mapping.withBytes { bytes in
        let part = bytes.extracting(start..<(start + count))
        // There is no safe copy from one span of bytes to another.
        unsafe room.withUnsafeMutableBytes { target in
          unsafe part.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
        }
      }
      return count
    }
  }

  /// Lends the bytes piece by piece, in order.
  ///
  /// The checksum is compared only after the last piece.
  ///
  /// - Parameters:
  ///   - chunk: The size of every piece but the last, in bytes; as much memory is used.
  ///   - body: Called with each piece.
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` at the end if the checksum does not match.
  public func forEachChunk(
    of chunk: Int = 256 << 10,
    _ body: (RawSpan) throws -> Void
  ) throws {
    precondition(chunk > 0, "pieces of \(chunk) bytes")
    var checksum: UInt32 = 0
    var offset = 0
    var buffer = ByteBuffer(capacity: min(chunk, byteCount))
    while offset < byteCount {
      buffer.removeAll()
      let count = try buffer.append(upTo: min(chunk, byteCount - offset)) {
        (room) throws(StorageError) in try read(into: &room, at: offset)
      }
      guard count > 0 else { break }
      checksum = CRC32C.extend(checksum, over: buffer.bytes)
      offset += count
      try body(buffer.bytes)
    }
    try compare(checksum)
  }

  /// Reads all bytes and checks them.
  public func check() throws { try forEachChunk { _ in } }

  private func check(_ bytes: RawSpan) throws(StorageError) {
    if isChecked.load(ordering: .relaxed) && isMapped { return }
    try compare(CRC32C.extend(0, over: bytes))
    isChecked.store(true, ordering: .relaxed)
  }

  private func compare(_ checksum: UInt32) throws(StorageError) {
    guard checksum == reference.checksum else {
      let problem = Corruption.Problem.checksumMismatch(
        of: .blob,
        expected: reference.checksum,
        found: checksum
      )
      let error = StorageError.corruption(
        Corruption(path: path, offset: BlobFileHeader.byteCount, problem: problem)
      )
      events.reportDamage(error)
      events.deliver()
      throw error
    }
  }
}
