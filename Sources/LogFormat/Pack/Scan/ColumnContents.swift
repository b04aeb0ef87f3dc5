import RowFormat

/// The contents of a ``ColumnVector``.
@usableFromInline package struct ColumnContents: ~Copyable {
  @usableFromInline package var form = ColumnVector.Form.absent
  @usableFromInline package var count = 0
  @usableFromInline package var nullCount = 0
  @usableFromInline package var dictionary: PackDictionary?
  /// The values of fixed width; in the form bytes, the whole chunk.
  @usableFromInline package var values = ByteBuffer(capacity: 64)
  /// The offset in ``values`` at which each value of the form bytes begins, and the end of the last.
  @usableFromInline package var bounds = ByteBuffer(capacity: 64)
  /// A bit for each row, in words; empty if no row is null.
  @usableFromInline package var nulls = ByteBuffer(capacity: 64)

  /// The memory of the contents, in bytes.
  var memoryByteCount: Int { values.count + bounds.count + nulls.count + 256 }

  @inline(__always)
  func isNull(_ row: Int) -> Bool {
    precondition(0..<count ~= row, "row \(row) of \(count)")
    if nullCount == 0 { return false }
    return form == .absent || nulls.load(UInt64.self, at: row / 64 * 8) >> UInt64(row & 63) & 1 == 1
  }

  /// The values of fixed width.
  @_lifetime(borrow self)
  @inlinable @inline(__always)
  package func values<Element: BitwiseCopyable>(_ form: ColumnVector.Form) -> Span<Element> {
    precondition(self.form == form, "a vector of \(self.form) was asked for \(form)")
    return Span(_bytes: values.bytes)
  }

  /// The bytes of a row's value of variable width.
  @_lifetime(borrow self)
  @inlinable @inline(__always)
  package func bytes(at row: Int) -> RawSpan {
    precondition(0..<count ~= row, "row \(row) of \(count)")
    if form == .codes, let dictionary {
      let code = values.load(UInt16.self, at: row &* 2)
      return unsafe _overrideLifetime(dictionary.value(Int(code)), borrowing: self)
    }
    precondition(form == .bytes, "a vector of \(form) was asked for bytes")
    let start = Int(bounds.load(UInt32.self, at: row &* 4))
    let end = Int(bounds.load(UInt32.self, at: row &* 4 &+ 4))
    return values.bytes.extracting(start..<end)
  }
}

// MARK: Keys

extension ColumnContents {
  /// Returns the key of a row, if the contents are keys.
  @inlinable @inline(__always)
  package func key(at row: Int, firstKey: UInt64) -> UInt64 {
    form == .dense ? firstKey + UInt64(row) : values.load(UInt64.self, at: row * 8)
  }
}
