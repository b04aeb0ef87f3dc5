import LogFormat
import RowFormat

/// The columns of some rows of the log, gathered row by row.
///
/// Values of fixed width are a load and a store each; those of variable width are copied one behind the other.
/// The owner frees its memory.
@safe struct GatheredRows {
  private var keys: [UInt64] = []
  /// The number of rows.
  private(set) var count = 0
  private var byteCount = 0
  private let columns: [UInt16]
  private let columnCount: Int
  private let definition: TableDefinition
  /// The layout of the last row, and the places of the columns in it.
  private var layout: LayoutNumber?
  private var rowLayout = RowLayout([])
  private let sources: UnsafeMutablePointer<Source>
  /// The values of columns of variable width.
  private let texts: UnsafeMutablePointer<GatheredBytes>
  /// For each column, first the values, two words for each row, or the ends of its values in ``texts``; then the bits of nulls,
  /// then those of rows that lack the column.
  private let memory: UnsafeMutablePointer<UInt64>

  /// Limits of a batch: the number of rows, and the size of its values of variable width in bytes.
  private static let rowLimit = 2048
  private static let byteLimit = 512 << 10
  private static let bitWords = rowLimit / 64
  private static let wordsPerColumn = rowLimit * 2 + bitWords * 2

  /// The place of a column in rows of a layout.
  private struct Source {
    var width = Width.absent
    /// The column's position, which determines its bit among the nulls.
    var column = 0
    var offset = 0

    enum Width { case absent, one, eight, sixteen, variable }
  }

  init(_ columns: [UInt16], of definition: TableDefinition) {
    self.columns = columns
    self.definition = definition
    columnCount = columns.count
    unsafe sources = .allocate(capacity: columns.count)
    unsafe sources.initialize(repeating: Source(), count: columns.count)
    unsafe texts = .allocate(capacity: columns.count)
    for index in columns.indices { unsafe (texts + index).initialize(to: GatheredBytes()) }
    unsafe memory = .allocate(capacity: columns.count * Self.wordsPerColumn)
    unsafe memory.initialize(repeating: 0, count: columns.count * Self.wordsPerColumn)
  }

  func deallocate() {
    for index in 0..<columnCount { unsafe texts[index].deallocate() }
    unsafe texts.deallocate()
    unsafe sources.deallocate()
    unsafe memory.deallocate()
  }

  func key(of row: Int) -> UInt64 { keys[row] }

  var isFull: Bool { count >= Self.rowLimit || byteCount >= Self.byteLimit }

  mutating func removeAll() {
    keys.removeAll(keepingCapacity: true)
    count = 0
    byteCount = 0
    for index in 0..<columnCount {
      unsafe nulls(of: index).initialize(repeating: 0, count: Self.bitWords * 2)
      unsafe texts[index].removeAll()
    }
  }

  private func values(of index: Int) -> UnsafeMutablePointer<UInt64> {
    unsafe memory + index &* Self.wordsPerColumn
  }

  private func nulls(of index: Int) -> UnsafeMutablePointer<UInt64> {
    unsafe memory + (index &* Self.wordsPerColumn &+ Self.rowLimit &* 2)
  }

  private func lacking(of index: Int) -> UnsafeMutablePointer<UInt64> {
    unsafe nulls(of: index) + Self.bitWords
  }

  /// Whether some of the rows lack a column.
  func isLacking(_ index: Int) -> Bool {
    let words = unsafe lacking(of: index)
    return (0..<Self.bitWords).contains { unsafe words[$0] != 0 }
  }

  /// Keeps the rows that lack a column.
  func keepLacking(_ index: Int, in rows: inout RowSelection) {
    let words = unsafe lacking(of: index)
    for word in rows.words.indices { rows.words[word] &= unsafe words[word] }
  }
}

// MARK: Gathering

extension GatheredRows {
  /// Adds a row, if the rows are not full.
  ///
  /// - Returns: `false` if the table has no such layout.
  @inline(__always)
  mutating func append(_ key: UInt64, _ number: LayoutNumber, _ row: RawSpan) -> Bool {
    if layout != number, !take(number) { return false }
    keys.append(key)
    for index in 0..<columnCount {
      let source = unsafe sources[index]
      let values = unsafe values(of: index)
      let bits = source.width == .absent ? 0xFF : row.load(UInt8.self, at: 1 &+ source.column &>> 3)
      if bits &>> UInt8(truncatingIfNeeded: source.column & 7) & 1 == 1 {
        unsafe nulls(of: index)[count &>> 6] |= 1 &<< UInt64(truncatingIfNeeded: count & 63)
      }
      // Fixed values under a null are zeros in a row, too.
      switch source.width {
      case .absent: appendLacking(index)
      case .one: unsafe values[count] = UInt64(row.load(UInt8.self, at: source.offset))
      case .eight: unsafe values[count] = row.load(UInt64.self, at: source.offset)
      case .sixteen:
        unsafe values[count &* 2] = row.load(UInt64.self, at: source.offset)
        unsafe values[count &* 2 &+ 1] = row.load(UInt64.self, at: source.offset &+ 8)
      case .variable:
        let value = row.extracting(rowLayout.range(source.column, in: row))
        unsafe texts[index].append(value)
        unsafe values[count] = UInt64(truncatingIfNeeded: texts[index].count)
        byteCount &+= value.byteCount
      }
    }
    count &+= 1
    return true
  }

  /// Adds a row that lacks a column: a zero if the width is fixed, otherwise an empty value.
  private func appendLacking(_ index: Int) {
    unsafe values(of: index)[count] = UInt64(truncatingIfNeeded: texts[index].count)
    unsafe lacking(of: index)[count &>> 6] |= 1 &<< UInt64(truncatingIfNeeded: count & 63)
  }

  /// Looks up the places of the columns in another layout.
  private mutating func take(_ number: LayoutNumber) -> Bool {
    guard let found = definition.layout(number) else { return false }
    layout = number
    rowLayout = found.layout
    for (index, column) in columns.enumerated() {
      var source = Source()
      if let position = found.columns.firstIndex(of: column) {
        let type = rowLayout.types[position]
        source.column = position
        source.width =
          type.isVariable
          ? .variable : type.fixedWidth == 1 ? .one : type.fixedWidth == 8 ? .eight : .sixteen
        source.offset = type.isVariable ? 0 : rowLayout.offset(of: position)
      }
      unsafe sources[index] = source
    }
    return true
  }

  /// Fills a vector with a column.
  func fill(_ contents: inout ColumnContents, from index: Int) {
    contents.begin(definition.column(columns[index])?.type)
    unsafe contents.end(count, values(of: index), nulls(of: index))
    if contents.form == .bytes { unsafe texts[index].append(to: &contents.values) }
  }
}

extension ColumnContents {
  /// Empties the vector for values of a type.
  fileprivate mutating func begin(_ type: ColumnType?) {
    form =
      switch type {
      case .integer, .reference: .integers
      case .double, .date: .doubles
      case .bool: .bits
      case .uuid: .identifiers
      case .text, .bytes, .references, .structured, .blob: .bytes
      case nil: .absent
      }
    dictionary = nil
    values.removeAll()
    bounds.removeAll()
    nulls.removeAll()
  }

  fileprivate mutating func end(
    _ count: Int,
    _ words: UnsafeMutablePointer<UInt64>,
    _ nullWords: UnsafeMutablePointer<UInt64>
  ) {
    self.count = count
    nullCount = 0
    for index in 0..<((count + 63) / 64) {
      nulls.append(unsafe nullWords[index])
      nullCount += unsafe nullWords[index].nonzeroBitCount
    }
    switch form {
    case .integers, .doubles: unsafe append(words, count)
    case .identifiers: unsafe append(words, count * 2)
    case .bits:
      for start in stride(from: 0, to: count, by: 64) {
        var bits: UInt64 = 0
        for row in start..<min(start + 64, count) {
          bits |= unsafe (words[row] & 1) << UInt64(row & 63)
        }
        values.append(bits)
      }
    case .bytes:
      bounds.append(0 as UInt32)
      for row in 0..<count { bounds.append(unsafe UInt32(truncatingIfNeeded: words[row])) }
    case .absent, .codes, .dense: break
    }
  }

  private mutating func append(_ words: UnsafeMutablePointer<UInt64>, _ count: Int) {
    let bytes = unsafe UnsafeRawBufferPointer(start: words, count: count * 8).bytes
    values.append(bytes)
  }
}
