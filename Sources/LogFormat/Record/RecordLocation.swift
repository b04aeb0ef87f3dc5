/// The location of a record, in eight bytes: the value of a slot in the index.
///
///     bits 63 ..< 42   segment   22 bits
///     bits 41 ..< 10   offset    32 bits, in units of eight bytes from the start of the file
///     bits  9 ...  6   depth     of the chain of deltas that ends here, 0 for a whole row
///     bits  5 ...  3   kind      ``RecordKind``
///     bits  2 ...  1   zero
///     bit   0          packed    zero
///
/// If bit 0 is set, the row is in a pack, or its end is recorded there:
///
///     bits 63 ..< 42   pack      22 bits
///     bits 41 ..< 22   block     20 bits; all ones if the row has ended
///     bits 21 ..<  6   row       16 bits; all ones if the row has ended
///     bits  5 ...  3   kind      insert, or delete if the row has ended
///
/// Zero is no location: the key was never used.
@usableFromInline package struct RecordLocation: RawRepresentable, Hashable, Sendable {
  @usableFromInline package let rawValue: UInt64

  @inlinable @inline(__always) package init(rawValue: UInt64) { self.rawValue = rawValue }

  @inlinable @inline(__always)
  package init(segment: SegmentID, offset: Int, kind: RecordKind, depth: Int) {
    rawValue =
      UInt64(segment.rawValue) << 42 | UInt64(truncatingIfNeeded: offset &>> 3) << 10
      | UInt64(truncatingIfNeeded: depth) << 6 | UInt64(kind.rawValue) << 3
  }

  /// A row of a pack.
  @inlinable @inline(__always)
  package init(pack: PackID, _ address: PackAddress) {
    rawValue =
      UInt64(pack.rawValue) << 42 | UInt64(address.block) << 22 | UInt64(address.row) << 6
      | UInt64(RecordKind.insert.rawValue) << 3 | 1
  }

  /// The end of a row, recorded in a pack.
  @inlinable @inline(__always)
  package init(endNotedIn pack: PackID) {
    rawValue =
      UInt64(pack.rawValue) << 42 | (1 << 36 - 1) << 6 | UInt64(RecordKind.delete.rawValue) << 3 | 1
  }

  @inlinable package static var none: RecordLocation { RecordLocation(rawValue: 0) }

  /// Limit of the offset, exclusive.
  @inlinable package static var offsetLimit: Int { 8 << 32 }
  /// The greatest depth.
  @inlinable package static var maximumDepth: Int { 15 }

  @inlinable @inline(__always) package var isNone: Bool { rawValue == 0 }
  @inlinable @inline(__always) package var segment: SegmentID {
    SegmentID(rawValue: UInt32(truncatingIfNeeded: rawValue >> 42))
  }
  @inlinable @inline(__always) package var offset: Int { Int((rawValue >> 10) & 0xFFFF_FFFF) << 3 }
  @inlinable @inline(__always) package var depth: Int { Int((rawValue >> 6) & 15) }
  @inlinable @inline(__always) package var kind: RecordKind? {
    RecordKind(rawValue: UInt8(truncatingIfNeeded: rawValue >> 3) & 7)
  }
  /// Whether the row ends here.
  @inlinable @inline(__always) package var isDelete: Bool {
    (rawValue >> 3) & 7 == UInt64(RecordKind.delete.rawValue)
  }
  /// Whether a row can be read here.
  @inlinable @inline(__always) package var isRow: Bool { rawValue != 0 && !isDelete }

  /// Whether the row is in a pack, or its end is recorded there.
  @inlinable @inline(__always) package var isPacked: Bool { rawValue & 1 != 0 }

  /// The place alone, by which a record names its predecessor.
  @inlinable @inline(__always) package var place: RecordPlace {
    isPacked
      ? RecordPlace(rawValue: 1 << 63 | rawValue >> 6) : RecordPlace(rawValue: rawValue >> 10)
  }
}

/// A segment and an offset in it, by which a record names the previous record of the same row.
///
///     bits 53 ..< 32   segment
///     bits 31 ...  0   offset, in units of eight bytes
///
/// Or a row of a pack, if bit 63 is set:
///
///     bits 57 ..< 36   pack
///     bits 35 ..< 16   block
///     bits 15 ...  0   row
///
/// A place in a file that compaction has retired refers to the row in the pack that now contains it.
///
/// Zero is no place.
@usableFromInline package struct RecordPlace: RawRepresentable, Hashable, Sendable {
  @usableFromInline package let rawValue: UInt64

  @inlinable @inline(__always) package init(rawValue: UInt64) { self.rawValue = rawValue }
  @inlinable @inline(__always) package init(segment: SegmentID, offset: Int) {
    rawValue = UInt64(segment.rawValue) << 32 | UInt64(truncatingIfNeeded: offset &>> 3)
  }

  @inlinable package static var none: RecordPlace { RecordPlace(rawValue: 0) }

  @inlinable @inline(__always) package var isNone: Bool { rawValue == 0 }
  @inlinable @inline(__always) package var isPacked: Bool { rawValue >> 63 != 0 }
  /// The file: a segment, or a pack, whose number is from the same series.
  @inlinable @inline(__always) package var segment: SegmentID {
    SegmentID(
      rawValue: isPacked
        ? UInt32(truncatingIfNeeded: rawValue >> 36) & (1 << 22 - 1)
        : UInt32(truncatingIfNeeded: rawValue >> 32)
    )
  }
  @inlinable @inline(__always) package var offset: Int { Int(rawValue & 0xFFFF_FFFF) << 3 }
  /// The address of the row in its pack.
  @inlinable @inline(__always) package var packAddress: PackAddress {
    PackAddress(block: Int(rawValue >> 16 & 0xF_FFFF), row: Int(rawValue & 0xFFFF))
  }

  /// A row of a pack.
  @inlinable @inline(__always) package init(pack: PackID, _ address: PackAddress) {
    self = RecordLocation(pack: pack, address).place
  }
}
