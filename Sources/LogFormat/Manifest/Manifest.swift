import RowFormat

/// The root of a store: the file with the highest number *is* the store.
///
/// A manifest file is a ``FileHeader`` and one frame of kind ``FrameKind/manifest``, whose payload is
/// zero padded to a multiple of eight. Its numbers are varints, unless a size is given.
///
///     flags           1 byte; bit 0: the log was closed at durableEnd, and nothing follows it;
///                     bit 1: there may be files of blobs that no row owns;
///                     bit 2: there is a base
///     epoch           the number of openings for writing
///     nextSegment     no segment with this number or a higher one existed before
///     durableEnd      log position that was on disk
///     sequence        the last commit before it
///     checkpoint      number of the newest checkpoint; 0 for none
///     lineage         16 bytes: identifies this copy of the store; a backup gets its own
///     application     text: the program that the store belongs to
///     segments        a count, then number and end of each segment that must exist
///     catalogue       ``Catalogue``
///     nextBlob        no row of a commit before durableEnd refers to this blob or a later one; nothing,
///                     or 0, if none refers to any
///     base            ``LogBase``, if segments were packed; the header then names
///                     ``FormatVersion/packs`` among its incompatible features
///
/// A manifest is written under a temporary name, synchronized, renamed into place, and the directory synchronized. So a
/// manifest under its final name is complete, or the device has lost data it had synchronized: then opening fails, because the
/// previous manifest may name files that are gone.
package struct Manifest: Hashable {
  package var number: UInt64
  package var store: StoreIdentifier
  package var isClean = false
  package var epoch: UInt32 = 0
  package var nextSegment = SegmentID(rawValue: 1)
  package var nextBlob = BlobID(rawValue: 1)
  package var mayHaveOrphanedBlobs = false
  package var durableEnd: UInt64 = 0
  package var sequence = CommitSequence.zero
  package var checkpoint: UInt64 = 0
  package var lineage: StoreIdentifier
  package var application = ""
  package var segments: [SegmentEnd] = []
  package var catalogue = Catalogue()
  /// The beginning of the log; `nil` if nothing was packed.
  package var base: LogBase?

  package init(
    number: UInt64,
    store: StoreIdentifier,
    isClean: Bool = false,
    epoch: UInt32 = 0,
    nextSegment: SegmentID = SegmentID(rawValue: 1),
    nextBlob: BlobID = BlobID(rawValue: 1),
    mayHaveOrphanedBlobs: Bool = false,
    durableEnd: UInt64 = 0,
    sequence: CommitSequence = CommitSequence.zero,
    checkpoint: UInt64 = 0,
    lineage: StoreIdentifier,
    application: String = "",
    segments: [SegmentEnd] = [],
    catalogue: Catalogue = Catalogue(),
    base: LogBase? = nil
  ) {
    self.number = number
    self.store = store
    self.isClean = isClean
    self.epoch = epoch
    self.nextSegment = nextSegment
    self.nextBlob = nextBlob
    self.mayHaveOrphanedBlobs = mayHaveOrphanedBlobs
    self.durableEnd = durableEnd
    self.sequence = sequence
    self.checkpoint = checkpoint
    self.lineage = lineage
    self.application = application
    self.segments = segments
    self.catalogue = catalogue
    self.base = base
  }

  /// The name of the program of a store while a salvage writes it: so no app takes the store for its own after a crash, and the
  /// next salvage removes it.
  package static let unfinishedSalvage = "an unfinished salvage"

  /// The log position at which the log was closed; `nil` if it was not.
  package var cleanEnd: UInt64? { isClean ? durableEnd : nil }

  /// A segment and the minimum size of its file.
  package struct SegmentEnd: Hashable {
    package var id: SegmentID
    package var end: Int

    package init(id: SegmentID, end: Int) {
      self.id = id
      self.end = end
    }
  }
}

// MARK: Codec

extension Manifest {
  package func encode(salt: UInt64, created: Int64, into buffer: inout ByteBuffer) {
    let header = FileHeader(
      kind: .manifest,
      store: store,
      number: number,
      salt: salt,
      created: created,
      features: base == nil ? 0 : FormatVersion.packs
    )
    header.encode(into: &buffer)
    var payload = ByteBuffer(capacity: 1024)
    encodePayload(into: &payload)
    payload.appendZeros(-payload.count & 7)
    let frame = FrameHeader(
      payloadLength: payload.count,
      kind: .manifest,
      sequence: sequence,
      durableEnd: durableEnd,
      payloadChecksum: CRC32C.extend(0, over: payload.bytes),
      chain: 0
    )
    buffer.append(frame, seed: header.seed.at(FileHeader.byteCount))
    buffer.append(payload.bytes)
  }

  private func encodePayload(into buffer: inout ByteBuffer) {
    let flags = (isClean ? 1 : 0) | (mayHaveOrphanedBlobs ? 2 : 0) | (base == nil ? 0 : 4)
    buffer.append(UInt8(flags))
    buffer.appendVarint(UInt64(epoch))
    buffer.appendVarint(UInt64(nextSegment.rawValue))
    buffer.appendVarint(durableEnd)
    buffer.appendVarint(sequence.rawValue)
    buffer.appendVarint(checkpoint)
    lineage.encode(into: &buffer)
    buffer.appendText(application)
    buffer.appendVarint(UInt64(segments.count))
    for segment in segments {
      buffer.appendVarint(UInt64(segment.id.rawValue))
      buffer.appendVarint(UInt64(segment.end))
    }
    catalogue.encode(into: &buffer)
    buffer.appendVarint(nextBlob.rawValue)
    base?.encode(into: &buffer)
  }

  package init(decoding bytes: RawSpan, path: String) throws(StorageError) {
    let header = try FileHeader(decoding: bytes, .manifest, path: path)
    let frameStart = FileHeader.byteCount
    let rest = bytes.extracting(frameStart..<bytes.byteCount)
    guard let frame = FrameHeader(decoding: rest, seed: header.seed.at(frameStart)),
      frame.kind == .manifest, frame.totalByteCount <= rest.byteCount
    else {
      throw Manifest.damage(path, at: frameStart, .missing(.frame))
    }
    let payload = rest.extracting(FrameHeader.byteCount..<frame.totalByteCount)
    let checksum = CRC32C.extend(0, over: payload)
    guard checksum == frame.payloadChecksum else {
      let problem = Corruption.Problem.checksumMismatch(
        of: .manifest,
        expected: frame.payloadChecksum,
        found: checksum
      )
      throw Manifest.damage(path, at: frameStart + FrameHeader.byteCount, problem)
    }
    self.init(number: header.number, store: header.store, lineage: header.store)
    guard decodePayload(payload) else {
      throw Manifest.damage(path, at: frameStart + FrameHeader.byteCount, .missing(.catalogue))
    }
  }

  private mutating func decodePayload(_ bytes: RawSpan) -> Bool {
    var cursor = ByteCursor(0..<bytes.byteCount)
    guard let flags = cursor.integer(UInt8.self, in: bytes),
      let epoch = cursor.varint(UInt32.self, in: bytes),
      let next = cursor.varint(UInt32.self, in: bytes),
      let durableEnd = cursor.counter(in: bytes), let sequence = cursor.counter(in: bytes),
      let checkpoint = cursor.varint(in: bytes), let lineage = cursor.take(16),
      let application = cursor.text(in: bytes), let count = cursor.varint(in: bytes)
    else { return false }
    isClean = flags & 1 != 0
    mayHaveOrphanedBlobs = flags & 2 != 0
    self.epoch = epoch
    nextSegment = SegmentID(clampingNext: next)
    self.durableEnd = durableEnd
    self.sequence = CommitSequence(sequence)
    self.checkpoint = checkpoint
    self.lineage = StoreIdentifier(decoding: bytes, at: lineage.lowerBound)
    self.application = application
    for _ in 0..<count {
      guard let id = cursor.varint(UInt32.self, in: bytes),
        let end = cursor.varint(Int.self, in: bytes)
      else { return false }
      segments.append(SegmentEnd(id: SegmentID(rawValue: id), end: end))
    }
    guard let catalogue = Catalogue(decoding: bytes, &cursor) else { return false }
    self.catalogue = catalogue
    if let next = cursor.varint(in: bytes), BlobID(rawValue: next).isValid {
      nextBlob = BlobID(rawValue: next)
    }
    guard flags & 4 != 0 else { return true }
    base = LogBase(decoding: bytes, &cursor)
    return base != nil
  }

  private static func damage(
    _ path: String,
    at offset: Int,
    _ problem: Corruption.Problem
  ) -> StorageError {
    .corruption(Corruption(path: path, offset: offset, problem: problem))
  }
}
