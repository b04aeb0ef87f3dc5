/// Writes rows one after the other into one buffer.
///
///     var writer = RowWriter()
///     writer.begin(layout)
///     writer.set(0, integer: 42)
///     writer.append(1, text: "Lisbon")     // variable columns in ascending order
///     let row = writer.finish()            // the row's bytes in `writer.bytes`
///
/// A column that is not set is null. Fixed-width columns may be set in any order; variable ones must be set in ascending order,
/// because their bytes are written one behind the other.
public struct RowWriter: ~Copyable {
  @usableFromInline var buffer: ByteBuffer
  @usableFromInline var layout: RowLayout
  @usableFromInline var start = 0
  @usableFromInline var dataStart = 0
  @usableFromInline var nextOrdinal = 0
  @usableFromInline var isWide = false

  /// Creates a writer with room for that many bytes, which grows as needed.
  public init(capacity: Int = 4096) {
    buffer = ByteBuffer(capacity: capacity)
    layout = RowWriter.noLayout
  }

  /// The layout of a writer before its first row; shared by all writers, since many write no rows.
  private static let noLayout = RowLayout([])

  /// All rows written so far.
  @inlinable public var bytes: RawSpan {
    @_lifetime(borrow self) get { buffer.bytes }
  }

  /// The number of bytes written so far.
  @inlinable public var count: Int { buffer.count }

  /// Removes all rows and keeps the allocation.
  @inlinable public mutating func removeAll() { buffer.removeAll() }

  /// Starts a row in which every column is null.
  @inlinable public mutating func begin(_ layout: RowLayout) {
    // Mostly the layout is the same: counting references would take as long as a column.
    if layout !== self.layout { self.layout = layout }
    start = buffer.count
    let header = layout.endsOffset &+ layout.variableCount &* 2
    buffer.appendZeros(header)
    let nulls = (layout.types.count &+ 7) &>> 3
    for i in 0..<nulls { buffer.store(UInt8.max, at: start &+ 1 &+ i) }
    let excess = nulls &* 8 &- layout.types.count
    if excess > 0 { buffer.store(UInt8.max &>> UInt8(excess), at: start &+ nulls) }
    dataStart = start &+ header
    nextOrdinal = 0
    isWide = false
  }

  /// Starts a row with some values from a template.
  ///
  /// - Parameters:
  ///   - layout: The row's layout.
  ///   - template: A row of the layout, whose columns of variable width have no bytes. Columns that will get bytes are null in
  ///     it.
  @inlinable package mutating func begin(_ layout: RowLayout, as template: RawSpan) {
    assert(
      template.byteCount == layout.endsOffset + layout.variableCount * 2,
      "a template of \(template.byteCount) bytes has values of variable width"
    )
    if layout !== self.layout { self.layout = layout }
    start = buffer.count
    buffer.append(template)
    dataStart = buffer.count
    nextOrdinal = 0
    isWide = false
  }

  /// Ends the row.
  ///
  /// - Returns: The range of the row in ``bytes``.
  @inlinable public mutating func finish() -> Range<Int> {
    while nextOrdinal < layout.variableCount { closeOrdinal() }
    return start..<buffer.count
  }

  @inlinable mutating func markPresent(_ column: Int) {
    let at = start &+ 1 &+ column &>> 3
    buffer.store(
      buffer.load(UInt8.self, at: at) & ~(1 &<< UInt8(truncatingIfNeeded: column & 7)),
      at: at
    )
  }

  /// Sets an integer column.
  @inlinable public mutating func set(_ column: Int, integer value: Int64) {
    markPresent(column)
    buffer.store(value, at: start &+ layout.offset(of: column))
  }

  /// Sets a double or date column.
  @inlinable public mutating func set(_ column: Int, double value: Double) {
    markPresent(column)
    buffer.store(value.bitPattern, at: start &+ layout.offset(of: column))
  }

  /// Sets a Boolean column.
  @inlinable public mutating func set(_ column: Int, bool value: Bool) {
    markPresent(column)
    buffer.store(value ? 1 as UInt8 : 0, at: start &+ layout.offset(of: column))
  }

  /// Sets a UUID column from its sixteen bytes as two little-endian words.
  @inlinable public mutating func set(_ column: Int, uuid value: (UInt64, UInt64)) {
    markPresent(column)
    let at = start &+ layout.offset(of: column)
    buffer.store(value.0, at: at)
    buffer.store(value.1, at: at &+ 8)
  }

  /// Sets a reference column.
  @inlinable public mutating func set(_ column: Int, reference value: RowReference) {
    markPresent(column)
    buffer.store(value.rawValue, at: start &+ layout.offset(of: column))
  }

  /// Sets a text column, as UTF-8.
  ///
  /// Columns of variable width must be written in order.
  @inlinable public mutating func append(_ column: Int, text value: String) {
    open(column)
    buffer.append(utf8: value)
    closeOrdinal()
  }

  /// Sets a variable column of any type from its bytes.
  @inlinable public mutating func append(_ column: Int, bytes value: RawSpan) {
    open(column)
    buffer.append(value)
    closeOrdinal()
  }

  /// Sets a column with a list of references.
  @inlinable public mutating func append(
    _ column: Int,
    references value: some Sequence<RowReference>
  ) {
    open(column)
    for reference in value { buffer.append(reference.rawValue) }
    closeOrdinal()
  }

  /// Copies a column with a list of references from another row, without some of them and with others appended.
  ///
  /// - Parameters:
  ///   - column: The column.
  ///   - row: The other row, in which the column must not be null.
  ///   - other: The layout of the other row, in which the column is the same.
  ///   - gone: The offsets in the other row of the references to leave out, in order.
  ///   - added: The references to add.
  public mutating func append(
    _ column: Int,
    referencesOf row: RawSpan,
    layout other: RowLayout,
    withoutThoseAt gone: [Int],
    followedBy added: [RowReference]
  ) {
    open(column)
    let range = other.range(column, in: row)
    var start = range.lowerBound
    for offset in gone {
      buffer.append(row.extracting(start..<offset))
      start = offset + 8
    }
    buffer.append(row.extracting(start..<range.upperBound))
    for reference in added { buffer.append(reference.rawValue) }
    closeOrdinal()
  }

  /// Copies a column, null or not, from a row of this layout, or of another in which the column has the same type.
  public mutating func copy(
    _ column: Int,
    from row: RawSpan,
    column source: Int,
    layout other: RowLayout
  ) {
    if other.isNull(source, in: row) { return }
    let type = layout.types[column]
    if type.isVariable {
      open(column)
      buffer.append(row.extracting(other.range(source, in: row)))
      closeOrdinal()
    } else {
      markPresent(column)
      let from = other.offset(of: source)
      let to = start + layout.offset(of: column)
      switch type.fixedWidth {
      case 1: buffer.store(row.load(UInt8.self, at: from), at: to)
      case 8: buffer.store(row.load(UInt64.self, at: from), at: to)
      default:
        buffer.store(row.load(UInt64.self, at: from), at: to)
        buffer.store(row.load(UInt64.self, at: from + 8), at: to + 8)
      }
    }
  }

  /// Sets a fixed-width column from its bytes in a row.
  mutating func set(_ column: Int, fixedBytes source: RawSpan) {
    markPresent(column)
    let to = start + layout.offset(of: column)
    for i in 0..<source.byteCount { buffer.store(source.load(UInt8.self, at: i), at: to + i) }
  }

  /// Appends a finished row unchanged.
  ///
  /// - Returns: The range of the row in ``bytes``.
  public mutating func append(row: RawSpan) -> Range<Int> {
    let start = buffer.count
    buffer.append(row)
    return start..<buffer.count
  }

  /// Overwrites a value of fixed width in a row that was appended unchanged.
  ///
  /// - Parameters:
  ///   - value: The value, or a part of it.
  ///   - offset: The offset of the value in the row; see ``RowLayout/offset(of:)``.
  ///   - start: The offset of the row in ``bytes``.
  @inlinable package mutating func overwrite<T: FixedWidthInteger & BitwiseCopyable>(
    _ value: T,
    at offset: Int,
    ofRowAt start: Int
  ) {
    buffer.store(value, at: start &+ offset)
  }

  /// Sets whether a column is null in a row that was appended unchanged.
  @inlinable package mutating func setNull(_ isNull: Bool, _ column: Int, ofRowAt start: Int) {
    let at = start &+ 1 &+ column &>> 3
    let bit = 1 as UInt8 &<< UInt8(truncatingIfNeeded: column & 7)
    let bits = buffer.load(UInt8.self, at: at)
    buffer.store(isNull ? bits | bit : bits & ~bit, at: at)
  }

  /// Makes a column of fixed width null in a row that was appended unchanged.
  ///
  /// - Parameters:
  ///   - column: The column.
  ///   - layout: The layout of the row.
  ///   - start: The offset of the row in ``bytes``.
  @inlinable package mutating func makeNull(_ column: Int, of layout: RowLayout, ofRowAt start: Int)
  {
    precondition(!layout.types[column].isVariable, "column \(column) has no fixed width")
    setNull(true, column, ofRowAt: start)
    let offset = layout.offset(of: column)
    for place in 0..<layout.types[column].fixedWidth {
      overwrite(0 as UInt8, at: offset + place, ofRowAt: start)
    }
  }

  /// Closes the variable columns before `column` and starts its bytes.
  @inlinable mutating func open(_ column: Int) {
    markPresent(column)
    let ordinal = Int(layout.slots[column])
    precondition(ordinal >= nextOrdinal, "variable columns are written in ascending order")
    while nextOrdinal < ordinal { closeOrdinal() }
  }

  /// Stores the end of the current variable column's bytes.
  @inlinable mutating func closeOrdinal() {
    let end = buffer.count &- dataStart
    if !isWide && end > Int(UInt16.max) { widen() }
    if isWide {
      buffer.store(
        UInt32(truncatingIfNeeded: end),
        at: start &+ layout.endsOffset &+ nextOrdinal &* 4
      )
    } else {
      buffer.store(
        UInt16(truncatingIfNeeded: end),
        at: start &+ layout.endsOffset &+ nextOrdinal &* 2
      )
    }
    nextOrdinal &+= 1
  }

  /// Moves the data two bytes per variable column further and rewrites the ends as 32-bit integers.
  @usableFromInline mutating func widen() {
    let ends = start + layout.endsOffset
    let known = (0..<nextOrdinal).map { buffer.load(UInt16.self, at: ends + $0 * 2) }
    buffer.shift(from: dataStart, by: layout.variableCount * 2)
    dataStart += layout.variableCount * 2
    for (ordinal, end) in known.enumerated() {
      buffer.store(UInt32(end), at: ends + ordinal * 4)
    }
    buffer.store(1 as UInt8, at: start)
    isWide = true
  }
}
