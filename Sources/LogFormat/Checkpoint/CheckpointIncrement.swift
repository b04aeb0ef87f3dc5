import RowFormat

/// The changes of the index since a checkpoint or the previous increment: after a crash, opening a store reads little of the
/// log, although a checkpoint, which contains every key, is written seldom.
///
/// Increments follow the metadata in a checkpoint's file, one behind the other. None is synchronized: a torn increment, or one
/// missing after a power cut, ends the list, and the log is read from the previous one. Every record that an increment refers
/// to was on disk before it was written.
///
///     offset  size  field
///          0     4  magic           43 4B 49 31
///          4     4  checksum        CRC-32C of the checkpoint's salt, of the increment's offset in the file, 8 bytes
///                                   each, and of the bytes from 8 on
///          8     8  length          of the rest
///         16        previous        log position of the checkpoint's or increment's place that it builds on
///                   segment … logPosition, durableEnd, usages
///                                   as in a ``Checkpoint``
///                   nextBlob        as in a ``Checkpoint``, always there
///                   tables          a count, then each by ascending number:
///                     number, nextKey, count of rows, count of slots
///                   slots           of one table after the other, each by ascending key: the number of keys
///                                   skipped before it; and the difference of its ``RecordLocation``, without the
///                                   lowest three bits, from the slot before, 0 before a table's first: zigzag
///
/// Numbers are varints. The slots are all those that name a record at or after the place of the basis, none of them in a pack;
/// like the pages of a checkpoint, they may name later records than those of the increment's commit, up to `durableEnd`. The
/// catalogue is the checkpoint's: a change of the catalogue requires another checkpoint.
///
/// A compaction may come between two increments. The later one then vouches for the checkpoint and the increments before,
/// whose locations may name files that are gone.
package struct CheckpointIncrement: Hashable {
  /// The log position of the increment's basis.
  package var previous: UInt64
  package var place: LogPlace
  package var durableEnd: UInt64
  package var usages: SegmentUsages
  package var nextBlob: BlobID
  package var tables: [Table] = []

  /// The contents of an increment for one table, beside its slots.
  package struct Table: Hashable {
    package var number: UInt16
    package var nextKey: UInt64
    package var rowCount: Int
    package var slotCount = 0

    package init(number: UInt16, nextKey: UInt64, rowCount: Int) {
      self.number = number
      self.nextKey = nextKey
      self.rowCount = rowCount
    }
  }

  package init(
    previous: UInt64,
    place: LogPlace,
    durableEnd: UInt64,
    usages: SegmentUsages,
    nextBlob: BlobID,
    tables: [Table] = []
  ) {
    self.previous = previous
    self.place = place
    self.durableEnd = durableEnd
    self.usages = usages
    self.nextBlob = nextBlob
    self.tables = tables
  }

  static let magic: UInt32 = 0x3149_4B43
  /// The size of the head before the body, in bytes.
  package static let headByteCount = 16
  /// Limit of an increment, in bytes: as many as it claims are read into memory.
  static let byteLimit = 1 << 28
}

// MARK: Writing

extension CheckpointIncrement {
  /// Encodes the increment.
  ///
  /// - Parameters:
  ///   - slots: The slots of the tables, as many as they say.
  ///   - offset: The offset of the increment in the file.
  ///   - salt: The salt of the checkpoint's header.
  /// - Returns: The bytes; `nil` if there are more than a reader accepts.
  package func encode(_ slots: borrowing SlotEncoder, at offset: Int, salt: UInt64) -> ByteBuffer? {
    var buffer = ByteBuffer(capacity: slots.buffer.count + 4096)
    buffer.appendZeros(Self.headByteCount)
    buffer.appendVarint(previous)
    place.encode(into: &buffer)
    buffer.appendVarint(durableEnd)
    usages.encode(into: &buffer)
    buffer.appendVarint(nextBlob.rawValue)
    buffer.appendVarint(UInt64(tables.count))
    for table in tables {
      buffer.appendVarint(UInt64(table.number))
      buffer.appendVarint(table.nextKey)
      buffer.appendVarint(UInt64(truncatingIfNeeded: table.rowCount))
      buffer.appendVarint(UInt64(table.slotCount))
    }
    buffer.append(slots.buffer.bytes)
    guard buffer.count <= Self.byteLimit else { return nil }
    buffer.store(Self.magic, at: 0)
    buffer.store(UInt64(buffer.count - Self.headByteCount), at: 8)
    buffer.store(Self.checksum(of: buffer.bytes, at: offset, salt: salt), at: 4)
    return buffer
  }

  private static func checksum(of bytes: RawSpan, at offset: Int, salt: UInt64) -> UInt32 {
    var place = ByteBuffer(capacity: 16)
    place.append(salt)
    place.append(UInt64(offset))
    let seed = CRC32C.extend(0, over: place.bytes)
    return CRC32C.extend(seed, over: bytes.extracting(8..<bytes.byteCount))
  }

  /// Appends the slots of one table after the other.
  package struct SlotEncoder: ~Copyable {
    fileprivate var buffer = ByteBuffer(capacity: 64 << 10)
    private var nextKey: UInt64 = 0
    private var last: UInt64 = 0

    package init() {}

    /// Continues with another table.
    package mutating func beginTable() {
      nextKey = 0
      last = 0
    }

    /// Appends a slot; called in the order of the keys.
    package mutating func append(_ key: UInt64, _ location: RecordLocation) {
      buffer.appendVarint(key - nextKey)
      let value = location.rawValue >> 3
      let difference = Int64(bitPattern: value &- last)
      buffer.appendVarint(UInt64(bitPattern: difference << 1 ^ difference >> 63))
      nextKey = key + 1
      last = value
    }
  }
}

// MARK: Reading

extension CheckpointIncrement {
  /// Returns the size of the increment that begins with these bytes; `nil` if none begins here.
  package static func byteCount(ofHead bytes: RawSpan) -> Int? {
    guard bytes.byteCount >= headByteCount, bytes.load(UInt32.self, at: 0) == magic else {
      return nil
    }
    let length = bytes.load(UInt64.self, at: 8)
    return length <= UInt64(byteLimit - headByteCount) ? Int(length) + headByteCount : nil
  }

  /// Decodes an increment without its slots.
  ///
  /// - Parameters:
  ///   - bytes: The increment's bytes, from its head to its end.
  ///   - offset: The offset of the bytes in the file.
  ///   - salt: The salt of the checkpoint's header.
  /// - Returns: The increment, and a decoder of its slots; `nil` if the bytes are not an increment.
  package static func decode(
    _ bytes: RawSpan,
    at offset: Int,
    salt: UInt64
  ) -> (CheckpointIncrement, SlotDecoder)? {
    guard byteCount(ofHead: bytes) == bytes.byteCount,
      bytes.load(UInt32.self, at: 4) == checksum(of: bytes, at: offset, salt: salt)
    else { return nil }
    var cursor = ByteCursor(headByteCount..<bytes.byteCount)
    guard let previous = cursor.counter(in: bytes), let place = LogPlace(decoding: bytes, &cursor),
      let durableEnd = cursor.counter(in: bytes), durableEnd >= place.logPosition,
      place.logPosition > previous, let usages = SegmentUsages(decoding: bytes, &cursor),
      let nextBlob = cursor.varint(in: bytes), BlobID(rawValue: nextBlob).isValid,
      let tableCount = cursor.varint(UInt16.self, in: bytes)
    else { return nil }
    var increment = CheckpointIncrement(
      previous: previous,
      place: place,
      durableEnd: durableEnd,
      usages: usages,
      nextBlob: BlobID(rawValue: nextBlob)
    )
    for _ in 0..<tableCount {
      guard let table = Table(decoding: bytes, &cursor),
        table.number > increment.tables.last?.number ?? 0
      else { return nil }
      increment.tables.append(table)
    }
    return (increment, SlotDecoder(cursor))
  }

  /// Decodes the slots of one table after the other.
  package struct SlotDecoder {
    private var cursor: ByteCursor
    private var nextKey: UInt64 = 0
    private var last: UInt64 = 0

    fileprivate init(_ cursor: ByteCursor) { self.cursor = cursor }

    /// Whether everything was read.
    package var isAtEnd: Bool { cursor.remaining == 0 }

    /// Continues with another table.
    package mutating func beginTable() {
      nextKey = 0
      last = 0
    }

    /// Returns the next slot; `nil` if it is missing or invalid.
    @inline(__always)
    package mutating func next(in bytes: RawSpan) -> (key: UInt64, location: RecordLocation)? {
      guard let (gap, zigzag) = nextShort(in: bytes) ?? nextAny(in: bytes) else { return nil }
      let key = nextKey + gap
      last = last &+ (zigzag >> 1 ^ (0 &- (zigzag & 1)))
      guard key <= RowReference.maximumStoredKey, last != 0, last >> 61 == 0 else { return nil }
      nextKey = key + 1
      return (key, RecordLocation(rawValue: last << 3))
    }

    private mutating func nextAny(in bytes: RawSpan) -> (gap: UInt64, zigzag: UInt64)? {
      guard let gap = cursor.varint(in: bytes), gap <= RowReference.maximumStoredKey,
        let zigzag = cursor.varint(in: bytes)
      else { return nil }
      return (gap, zigzag)
    }

    /// Returns the next two numbers if the first has one byte and the second at most four, as most have.
    @inline(__always)
    private mutating func nextShort(in bytes: RawSpan) -> (gap: UInt64, zigzag: UInt64)? {
      guard cursor.remaining >= 8 else { return nil }
      let word = bytes.load(UInt64.self, at: cursor.offset)
      let lastBytes = ~(word >> 8) & 0x8080_8080
      guard word & 0x80 == 0, lastBytes != 0 else { return nil }
      let bitCount = UInt64(lastBytes.trailingZeroBitCount &+ 1)
      let number = word >> 8 & (1 &<< bitCount &- 1)
      cursor.offset &+= 1 &+ Int(bitCount / 8)
      let zigzag =
        number & 0x7F | number >> 1 & 0x3F80 | number >> 2 & 0x1F_C000 | number >> 3 & 0xFE0_0000
      return (word & 0x7F, zigzag)
    }
  }
}

extension CheckpointIncrement.Table {
  fileprivate init?(decoding bytes: RawSpan, _ cursor: inout ByteCursor) {
    guard let number = cursor.varint(UInt16.self, in: bytes),
      let nextKey = cursor.varint(in: bytes), 1...(RowReference.maximumStoredKey + 1) ~= nextKey,
      let rowCount = cursor.varint(Int.self, in: bytes), rowCount >= 0, UInt64(rowCount) < nextKey,
      let slotCount = cursor.varint(Int.self, in: bytes), slotCount >= 0
    else { return nil }
    self.init(number: number, nextKey: nextKey, rowCount: rowCount)
    self.slotCount = slotCount
  }
}
