/// The changed columns of a row, and only those.
///
///     part      size            meaning
///     changed   ⌈columns / 8⌉    bit *i* set: column *i* has an entry below
///     entries   one per bit     in column order: an operation byte, then
///       0 null                  nothing
///       1 value                 the fixed bytes, or a varint length and the bytes
///       2 splice                for a `references` column: varint kept, varint removed, varint
///                               inserted, then the inserted references, eight bytes each
///
/// A splice keeps the first `kept` references of the row it is applied to, removes the next `removed`, and inserts the new
/// ones: adding one element to a list of 100,000 takes a dozen bytes.
public enum RowDelta {
  enum Operation: UInt8 { case null = 0, value, splice }

  /// Whether the delta of some columns is likely to be much smaller than the row.
  @inlinable package static func pays(_ changed: ColumnSet, in layout: RowLayout) -> Bool {
    changed.rawValue.nonzeroBitCount * 2 <= layout.count
  }

  /// Appends the delta that turns `previous` into `row`.
  ///
  /// - Parameters:
  ///   - changed: The columns to write; an unchanged column costs bytes, never correctness.
  ///   - row: The new row.
  ///   - previous: The row that the delta will be applied to, if available: with it, a `references` column is written as a
  ///     splice if that is shorter.
  ///   - layout: The layout of both rows.
  ///   - buffer: The buffer that the delta is appended to.
  public static func encode(
    changed: ColumnSet,
    row: RawSpan,
    previous: RawSpan?,
    layout: RowLayout,
    into buffer: inout ByteBuffer
  ) {
    let bitmap = buffer.count
    buffer.appendZeros((layout.count + 7) / 8)
    for column in 0..<layout.count where changed.contains(column) {
      let at = bitmap + column / 8
      buffer.store(buffer.load(UInt8.self, at: at) | 1 << UInt8(column % 8), at: at)
      if layout.isNull(column, in: row) {
        buffer.append(Operation.null.rawValue)
        continue
      }
      let type = layout.types[column]
      guard type.isVariable else {
        buffer.append(Operation.value.rawValue)
        let offset = layout.offset(of: column)
        buffer.append(row.extracting(offset..<(offset + type.fixedWidth)))
        continue
      }
      let range = layout.range(column, in: row)
      if type == .references, let previous,
        appendSplice(column, row: row, range: range, previous: previous, layout: layout, &buffer)
      {
        continue
      }
      buffer.append(Operation.value.rawValue)
      buffer.appendVarint(UInt64(range.count))
      buffer.append(row.extracting(range))
    }
  }

  /// Writes a splice if it is shorter than the whole list.
  private static func appendSplice(
    _ column: Int,
    row: RawSpan,
    range: Range<Int>,
    previous: RawSpan,
    layout: RowLayout,
    _ buffer: inout ByteBuffer
  ) -> Bool {
    if layout.isNull(column, in: previous) { return false }
    let old = layout.range(column, in: previous)
    let shorter = min(old.count, range.count) / 8
    var kept = 0
    while kept < shorter,
      row.load(UInt64.self, at: range.lowerBound + kept * 8)
        == previous.load(UInt64.self, at: old.lowerBound + kept * 8)
    { kept += 1 }
    var tail = 0
    while tail < shorter - kept,
      row.load(UInt64.self, at: range.upperBound - 8 - tail * 8)
        == previous.load(UInt64.self, at: old.upperBound - 8 - tail * 8)
    { tail += 1 }
    let inserted = range.count / 8 - kept - tail
    guard inserted * 8 + 32 < range.count else { return false }
    buffer.append(Operation.splice.rawValue)
    buffer.appendVarint(UInt64(kept))
    buffer.appendVarint(UInt64(old.count / 8 - kept - tail))
    buffer.appendVarint(UInt64(inserted))
    let from = range.lowerBound + kept * 8
    buffer.append(row.extracting(from..<(from + inserted * 8)))
    return true
  }

  /// Returns the columns that a delta changes; `nil` if it is shorter than its bitmap.
  public static func changedColumns(of delta: RawSpan, layout: RowLayout) -> ColumnSet? {
    guard delta.byteCount >= (layout.count + 7) / 8 else { return nil }
    var set = ColumnSet()
    for column in 0..<layout.count where isChanged(column, in: delta) { set.insert(column) }
    return set
  }

  static func isChanged(_ column: Int, in delta: RawSpan) -> Bool {
    delta.load(UInt8.self, at: column / 8) & (1 << UInt8(column % 8)) != 0
  }

  /// Visits the side files with values of changed columns; stops at the first malformed part of the delta.
  public static func forEachBlob(
    in delta: RawSpan,
    layout: RowLayout,
    _ body: (BlobReference) -> Void
  ) {
    let bitmap = (layout.count + 7) / 8
    guard delta.byteCount >= bitmap else { return }
    var cursor = ByteCursor(bitmap..<delta.byteCount)
    for column in 0..<layout.count where isChanged(column, in: delta) {
      guard let byte = cursor.integer(UInt8.self, in: delta),
        let operation = Operation(rawValue: byte),
        let range = skip(operation, layout.types[column], in: delta, &cursor)
      else { return }
      if layout.types[column] == .blob, operation == .value,
        let reference = BlobValue(decoding: delta, in: range)?.reference
      {
        body(reference)
      }
    }
  }

  /// Skips the operand of an operation.
  ///
  /// - Returns: The range of the operand's last bytes; `nil` if it is cut off.
  static func skip(
    _ operation: Operation,
    _ type: ColumnType,
    in delta: RawSpan,
    _ cursor: inout ByteCursor
  ) -> Range<Int>? {
    switch operation {
    case .null: return cursor.take(0)
    case .value:
      guard type.isVariable else { return cursor.take(type.fixedWidth) }
      guard let length = cursor.varint(in: delta), length <= UInt64(cursor.remaining) else {
        return nil
      }
      return cursor.take(Int(length))
    case .splice:
      guard cursor.varint(in: delta) != nil, cursor.varint(in: delta) != nil,
        let inserted = cursor.varint(in: delta), inserted <= UInt64(cursor.remaining / 8)
      else { return nil }
      return cursor.take(Int(inserted) * 8)
    }
  }

  /// Applies a delta that changes only columns of fixed width to a row in place.
  ///
  /// The row must be valid for the layout, and the first in the writer; the delta is checked as it is read.
  ///
  /// - Returns: Whether the delta was well-formed; if not, the row is meaningless. `nil`, without any change, if the delta
  ///   changes a column of variable width.
  package static func patch(
    _ delta: RawSpan,
    layout: RowLayout,
    in writer: inout RowWriter
  ) -> Bool? {
    let bitmap = (layout.count + 7) / 8
    guard delta.byteCount >= bitmap else { return false }
    for column in 0..<layout.count
    where isChanged(column, in: delta) && layout.types[column].isVariable { return nil }
    var cursor = ByteCursor(bitmap..<delta.byteCount)
    for column in 0..<layout.count where isChanged(column, in: delta) {
      let width = layout.types[column].fixedWidth
      let offset = layout.offset(of: column)
      switch cursor.integer(UInt8.self, in: delta).flatMap(Operation.init) {
      case .null:
        writer.setNull(true, column, ofRowAt: 0)
        for place in 0..<width { writer.overwrite(0 as UInt8, at: offset + place, ofRowAt: 0) }
      case .value:
        guard let range = cursor.take(width) else { return false }
        writer.setNull(false, column, ofRowAt: 0)
        if width == 8 {
          writer.overwrite(delta.load(UInt64.self, at: range.lowerBound), at: offset, ofRowAt: 0)
        } else {
          for place in 0..<width {
            let byte = delta.load(UInt8.self, at: range.lowerBound + place)
            writer.overwrite(byte, at: offset + place, ofRowAt: 0)
          }
        }
      case .splice, nil: return false
      }
    }
    return cursor.remaining == 0
  }

  /// Appends the row that results from applying a delta to a row.
  ///
  /// The base must be valid for the layout; the delta is checked as it is read.
  ///
  /// - Returns: The range of the new row in the writer; `nil` if the delta is malformed (the writer's contents beyond its
  ///   previous count are then meaningless).
  public static func apply(
    _ delta: RawSpan,
    to base: RawSpan,
    layout: RowLayout,
    into writer: inout RowWriter
  ) -> Range<Int>? {
    let bitmap = (layout.count + 7) / 8
    guard delta.byteCount >= bitmap else { return nil }
    var cursor = ByteCursor(bitmap..<delta.byteCount)
    writer.begin(layout)
    for column in 0..<layout.count {
      guard isChanged(column, in: delta) else {
        writer.copy(column, from: base, column: column, layout: layout)
        continue
      }
      guard let byte = cursor.integer(UInt8.self, in: delta),
        let operation = Operation(rawValue: byte)
      else { return nil }
      let type = layout.types[column]
      switch operation {
      case .null: break
      case .value:
        if type.isVariable {
          guard let length = cursor.varint(in: delta), length <= UInt64(cursor.remaining),
            type != .references || length % 8 == 0, let range = cursor.take(Int(length))
          else { return nil }
          writer.append(column, bytes: delta.extracting(range))
        } else {
          guard let range = cursor.take(type.fixedWidth) else { return nil }
          writer.set(column, fixedBytes: delta.extracting(range))
        }
      case .splice:
        guard type == .references, !layout.isNull(column, in: base),
          let kept = cursor.varint(in: delta), let removed = cursor.varint(in: delta),
          let inserted = cursor.varint(in: delta)
        else { return nil }
        let old = layout.range(column, in: base)
        let count = UInt64(old.count / 8)
        guard kept <= count, removed <= count - kept, inserted <= UInt64(cursor.remaining / 8),
          let range = cursor.take(Int(inserted) * 8)
        else { return nil }
        let cut = old.lowerBound + Int(kept) * 8
        writer.open(column)
        writer.buffer.append(base.extracting(old.lowerBound..<cut))
        writer.buffer.append(delta.extracting(range))
        writer.buffer.append(base.extracting((cut + Int(removed) * 8)..<old.upperBound))
        writer.closeOrdinal()
      }
    }
    guard cursor.remaining == 0 else { return nil }
    return writer.finish()
  }
}
