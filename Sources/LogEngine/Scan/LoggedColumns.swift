import RowFormat

/// Columns gathered from rows of the log.
///
/// Values of fixed width are put into memory of the gatherer's own first, so that a row costs no more than a
/// load and a store for each of them.
@safe final class LoggedColumns {
  private(set) var keys: [UInt64] = []
  private(set) var vectors: [ColumnVector]
  private let columns: [UInt16]
  private let definition: TableDefinition
  private var count = 0
  private var byteCount = 0
  /// The layout of the last row, and where the columns stand in it.
  private var layout: LayoutNumber?
  private var rowLayout = RowLayout([])
  private let sources: UnsafeMutableBufferPointer<Source>
  /// Of each column first the values, two words for each row, then the bits of nulls.
  private let memory: UnsafeMutablePointer<UInt64>

  /// A batch is handed over when it has so many rows, or its values of variable width so many bytes.
  private static let rowLimit = 2048
  private static let byteLimit = 512 << 10
  private static let wordsPerColumn = rowLimit * 2 + rowLimit / 64

  /// Where a column stands in rows of a layout.
  private struct Source {
    var width = Width.absent
    /// The column's position, which its bit among the nulls follows from.
    var column = 0
    var offset = 0

    enum Width { case absent, one, eight, sixteen, variable }
  }

  init(_ columns: [UInt16], of definition: TableDefinition) {
    self.columns = columns
    self.definition = definition
    vectors = columns.map { _ in ColumnVector() }
    unsafe sources = .allocate(capacity: columns.count)
    unsafe sources.initialize(repeating: Source())
    unsafe memory = .allocate(capacity: columns.count * Self.wordsPerColumn)
    unsafe memory.initialize(repeating: 0, count: columns.count * Self.wordsPerColumn)
    removeAll()
  }

  deinit {
    unsafe sources.deallocate()
    unsafe memory.deallocate()
  }

  var isFull: Bool { count >= Self.rowLimit || byteCount >= Self.byteLimit }
  var isEmpty: Bool { count == 0 }

  /// Begins the next batch, in the same memory unless somebody kept a vector.
  func removeAll() {
    keys.removeAll(keepingCapacity: true)
    count = 0
    byteCount = 0
    for index in columns.indices {
      if !isKnownUniquelyReferenced(&vectors[index]) { vectors[index] = ColumnVector() }
      unsafe vectors[index].contents.beginGathering(definition.column(columns[index])?.type)
      unsafe nulls(of: index).initialize(repeating: 0, count: Self.rowLimit / 64)
    }
  }

  private func values(of index: Int) -> UnsafeMutablePointer<UInt64> {
    unsafe memory + index &* Self.wordsPerColumn
  }

  private func nulls(of index: Int) -> UnsafeMutablePointer<UInt64> {
    unsafe memory + (index &* Self.wordsPerColumn &+ Self.rowLimit &* 2)
  }

  /// Adds a row, of a batch that is not full.
  ///
  /// - Returns: `false` if the table has no such layout.
  func append(_ key: UInt64, _ number: LayoutNumber, _ row: RawSpan) -> Bool {
    if layout != number, !take(number) { return false }
    keys.append(key)
    for index in columns.indices {
      let source = unsafe sources[index]
      let bits = source.width == .absent ? 0xFF : row.load(UInt8.self, at: 1 &+ source.column &>> 3)
      if bits &>> UInt8(truncatingIfNeeded: source.column & 7) & 1 == 1 {
        unsafe nulls(of: index)[count &>> 6] |= 1 &<< UInt64(truncatingIfNeeded: count & 63)
      }
      // Fixed values under a null are zeros in a row, too.
      switch source.width {
      case .absent: unsafe values(of: index)[count] = 0
      case .one:
        unsafe values(of: index)[count] = UInt64(row.load(UInt8.self, at: source.offset))
      case .eight: unsafe values(of: index)[count] = row.load(UInt64.self, at: source.offset)
      case .sixteen:
        unsafe values(of: index)[count &* 2] = row.load(UInt64.self, at: source.offset)
        unsafe values(of: index)[count &* 2 &+ 1] = row.load(UInt64.self, at: source.offset &+ 8)
      case .variable: gatherBytes(index, row.extracting(rowLayout.range(source.column, in: row)))
      }
    }
    count &+= 1
    return true
  }

  private func gatherBytes(_ index: Int, _ value: RawSpan) {
    // Rows before that did not have the column have no bytes.
    fillBounds(index)
    unsafe vectors[index].contents.values.append(value)
    let end = unsafe vectors[index].contents.values.count
    unsafe vectors[index].contents.bounds.append(UInt32(truncatingIfNeeded: end))
    byteCount += value.byteCount
  }

  private func fillBounds(_ index: Int) {
    let end = unsafe UInt32(truncatingIfNeeded: vectors[index].contents.values.count)
    while unsafe vectors[index].contents.bounds.count <= count &* 4 {
      unsafe vectors[index].contents.bounds.append(end)
    }
  }

  /// Finds the columns in another layout.
  private func take(_ number: LayoutNumber) -> Bool {
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

  /// Puts what was gathered into the vectors.
  func finish() {
    for index in columns.indices {
      if unsafe vectors[index].contents.form == .bytes { fillBounds(index) }
      unsafe vectors[index].contents.endGathering(count, values(of: index), nulls(of: index))
    }
  }
}

extension ColumnContents {
  /// Empties the vector, to be filled with values of a type.
  fileprivate mutating func beginGathering(_ type: ColumnType?) {
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
    if form == .bytes { bounds.append(0 as UInt32) }
  }

  fileprivate mutating func endGathering(
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
    case .bytes, .absent, .codes, .dense: break
    }
  }

  private mutating func append(_ words: UnsafeMutablePointer<UInt64>, _ count: Int) {
    let bytes = unsafe UnsafeRawBufferPointer(start: words, count: count * 8).bytes
    values.append(bytes)
  }
}
