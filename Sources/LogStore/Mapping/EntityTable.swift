import Locking
package import LogEngine
import ModelRuntime
package import RowFormat

/// The table of one entity, and how its older rows are read.
final class EntityTable: Sendable {
  let number: UInt16
  let descriptor: ModelDescriptor
  /// The layout in which rows are written and read.
  let layoutNumber: LayoutNumber
  /// The columns whose values a delete preserves in the history.
  let preservedColumns: [Int]
  /// The to-one columns of relationships with an inverse, which must not refer to deleted rows.
  let checkedReferences: [Int]
  /// The columns' numbers in the catalogue, by their positions in rows.
  let columnNumbers: [UInt16]
  /// The columns that the class lacks.
  let hidden: HiddenColumns
  /// The tables that the schema lacks, by number.
  let hiddenTables: Set<UInt16>
  /// The columns with stored lists.
  let listColumns: [Int]
  private let definition: TableDefinition
  /// The values that older rows have in columns added later, by column number; each is a row of one column.
  private let fills: [UInt16: [UInt8]]
  /// The columns, by position, whose value in an older row may be in another column.
  private let columnsWithPast: Set<Int>
  private let engine: StorageEngine
  /// The identifier of the store's files.
  var store: StoreIdentifier { engine.state.store }
  private let converters = Lock<[LayoutNumber: RowConverter]>([:], .rowConverters)

  init(
    _ definition: TableDefinition,
    _ descriptor: ModelDescriptor,
    _ engine: StorageEngine,
    _ catalogue: Catalogue,
    hiddenTables: Set<UInt16>
  ) {
    self.definition = definition
    self.hiddenTables = hiddenTables
    let types = descriptor.layout.types
    listColumns = types.indices.filter { types[$0] == .references }
    fills = FillValue.values(in: definition, catalogue)
    self.engine = engine
    self.descriptor = descriptor
    number = definition.number
    layoutNumber = definition.currentLayout
    let numbers = definition.layout(definition.currentLayout)?.columns ?? []
    columnNumbers = numbers
    let fills = fills
    hidden = HiddenColumns(of: definition, fills)
    columnsWithPast = Set(
      numbers.indices.filter { !definition.predecessors(of: numbers[$0]).isEmpty }
    )
    checkedReferences = descriptor.relationships.filter(\.isCheckedReference).map(\.ordinal)
    preservedColumns = descriptor.properties.filter {
      $0.attribute?.options.contains(.preserveValueOnDeletion) ?? false
    }.map(\.ordinal)
  }

  var layout: RowLayout { descriptor.layout }

  /// The to-one columns, with their rank columns.
  var referenceColumns: [ReferenceColumn] {
    descriptor.relationships.filter { !$0.isToMany }.map {
      ReferenceColumn(
        table: number,
        column: $0.ordinal,
        rankColumn: descriptor.rankColumns[$0.ordinal]
      )
    }
  }

  /// The catalogue number of a column that has every value of its property, but for that of rows without the column, which
  /// ``rowOfLacking()`` has.
  ///
  /// - Parameter position: The column's position in rows.
  /// - Returns: `nil` if a row without the column may have a value of its own, in an earlier column.
  func numberOfWholeColumn(at position: Int) -> UInt16? {
    guard columnNumbers.indices.contains(position), !columnsWithPast.contains(position) else {
      return nil
    }
    return columnNumbers[position]
  }

  /// The catalogue numbers of columns that have every value of their properties.
  ///
  /// - Returns: `nil` if one of them does not, or is not told apart from others.
  func numbers(of columns: ColumnSet) -> [UInt16]? {
    var numbers: [UInt16] = []
    for position in columnNumbers.indices where columns.contains(position) {
      guard let number = numberOfWholeColumn(at: position) else { return nil }
      numbers.append(number)
    }
    return numbers
  }

  /// Passes a row to a closure in the current layout, converted if it was written in another.
  ///
  /// - Throws: ``LogStoreError/unreadableRow(entity:key:)`` for an unknown layout, ``LogStoreError/schemaNotInStore(entity:path:)``
  ///   for one of other models, of another process,
  ///   ``LogStoreError/unreadableValue(entity:property:key:_:)`` for a value that moves back from its own file into
  ///   its row and cannot be read.
  @inline(__always)
  func withCurrentRow<R>(
    _ row: RawSpan,
    layout: LayoutNumber,
    key: UInt64,
    _ body: (RawSpan) throws -> R
  ) throws -> R {
    if layout == layoutNumber { return try body(row) }
    return try withConvertedRow(row, layout: layout, key: key, body)
  }

  @inline(never)
  private func withConvertedRow<R>(
    _ row: RawSpan,
    layout: LayoutNumber,
    key: UInt64,
    _ body: (RawSpan) throws -> R
  ) throws -> R {
    let known = converters.withLock { converters -> RowConverter? in
      if converters[layout] == nil {
        converters[layout] = RowConverter(
          from: layout,
          to: layoutNumber,
          in: definition,
          fills,
          defaults: rowOfLacking()
        )
      }
      return converters[layout]
    }
    guard let converter = known else { throw unreadableRow(key, layout) }
    var writer = RowWriter(capacity: row.byteCount + 256)
    let range = try converter.convert(row, into: &writer) { column, blob in
      do throws(StorageError) {
        return try engine.openBlob(blob)
      } catch {
        throw unreadable(column, key, error)
      }
    }
    return try body(writer.bytes.extracting(range))
  }
}

extension EntityTable {
  /// Encodes all that decides how some columns of a row are read: the table's columns and layouts, and the
  /// values that older rows have.
  func encodeReading(of columns: ColumnSet, into buffer: inout ByteBuffer) {
    definition.encode(into: &buffer)
    let defaults = rowOfLacking()
    for (position, number) in columnNumbers.enumerated() where columns.contains(position) {
      buffer.append(number)
      let fill = definition.fill(of: number, fills)?.row ?? []
      buffer.append(UInt32(fill.count))
      for byte in fill { buffer.append(byte) }
      guard !defaults.isEmpty else { continue }
      unsafe defaults.withUnsafeBytes { bytes in
        let row = unsafe bytes.bytes
        guard !layout.isNull(position, in: row) else { return }
        let type = layout.types[position]
        let start = layout.offset(of: position)
        let range =
          type.isVariable ? layout.range(position, in: row) : start..<(start + type.fixedWidth)
        buffer.append(row.extracting(range))
      }
    }
  }

  /// Returns the reading of a row that has none of the columns, nor any that held their values before.
  ///
  /// A column that is added has its value noted unless that is null: so if none is noted, an optional property was added
  /// without a default, and the default that it has today is not for older rows.
  func rowOfLacking() -> [UInt8] {
    let defaults = descriptor.defaultRow()
    if defaults.isEmpty { return defaults }
    var writer = RowWriter(capacity: defaults.count)
    writer.begin(layout)
    unsafe defaults.withUnsafeBytes { bytes in
      for column in 0..<layout.count {
        let number = columnNumbers[column]
        if !columnsWithPast.contains(column), let fill = definition.fill(of: number, fills) {
          fill.copy(to: column, of: &writer)
          continue
        }
        if descriptor.isOptional(column), definition.gained(number) { continue }
        unsafe writer.copy(column, from: bytes.bytes, column: column, layout: layout)
      }
    }
    let range = writer.finish()
    return unsafe writer.bytes.extracting(range).withUnsafeBytes { unsafe Array($0) }
  }

  /// A row in which every column is null.
  func rowOfNulls() -> [UInt8] {
    var writer = RowWriter(capacity: 256)
    writer.begin(layout)
    let range = writer.finish()
    return unsafe writer.bytes.extracting(range).withUnsafeBytes { unsafe Array($0) }
  }

  /// An earlier layout, and the place of each current column in it.
  ///
  /// - Returns: `nil` for an unknown layout.
  func places(in number: LayoutNumber) -> (layout: RowLayout, places: [Int?])? {
    guard let former = definition.layout(number), let current = definition.layout(layoutNumber)
    else { return nil }
    return (former.layout, definition.places(of: current, in: former))
  }

  /// Writes a changed row with the values that it has in columns that the class lacks.
  ///
  /// - Parameters:
  ///   - row: The row with its changes, in the table's layout.
  ///   - newest: The row as it was.
  ///   - number: The layout of that.
  ///   - writer: Receives the row.
  /// - Returns: The layout of the row; `nil`, with nothing written, if it had no such values.
  /// - Throws: ``StorageError`` if a value in a file of its own cannot be read.
  func complete(
    _ row: RawSpan,
    with newest: RawSpan,
    _ number: LayoutNumber,
    into writer: inout RowWriter
  ) throws -> LayoutNumber? {
    try hidden.complete(row, layout, with: newest, number, into: &writer) { blob in
      try engine.openBlob(blob)
    }
  }

  /// The error for a row in a layout that the table did not have when the store was opened.
  ///
  /// Another process may have brought the store to other models since.
  func unreadableRow(_ key: UInt64, _ layout: LayoutNumber) -> LogStoreError {
    let isKnown = engine.catalogue.table(number)?.layout(layout) != nil
    return isKnown
      ? .schemaNotInStore(entity: descriptor.entityName, path: engine.state.paths.root)
      : .unreadableRow(entity: descriptor.entityName, key: key)
  }

  /// The error for a value in a file of its own that cannot be read.
  func unreadable(_ column: Int, _ key: UInt64, _ error: StorageError) -> LogStoreError {
    .unreadableValue(
      entity: descriptor.entityName,
      property: descriptor.columnName(column),
      key: key,
      error
    )
  }
}

/// Reads a row of an older layout as one of the current layout, or of another.
///
/// A column keeps its number when it is renamed or moved, so columns are matched by number. A property gets a new
/// column only when its values move into files of their own, or back, or may no longer be null; the value of an older
/// row is then in the former column. A column that the older row lacks has the default that its property had when it
/// was added: of several columns the one that the first of them was added with.
package struct RowConverter: Sendable {
  private let old: RowLayout
  private let new: RowLayout
  /// The source of each current column's value.
  private let sources: [Source]
  /// A row of defaults, in the current layout.
  private let defaults: [UInt8]

  private struct Source {
    /// The value's place in the older row.
    var place: Int?
    /// The value to use if the older row has none, as a row of one column.
    var fill: TableDefinition.Fill?
  }

  /// - Parameters:
  ///   - number: The layout the rows are in.
  ///   - wanted: The layout they are wanted in.
  ///   - table: Their table.
  ///   - fills: The values that older rows have in columns added later, by column number; see ``FillValue``.
  ///   - defaults: A row in the wanted layout, for columns without such a value; it may be empty if there are none.
  package init?(
    from number: LayoutNumber,
    to wanted: LayoutNumber,
    in table: TableDefinition,
    _ fills: [UInt16: [UInt8]],
    defaults: [UInt8]
  ) {
    guard let former = table.layout(number), let current = table.layout(wanted) else { return nil }
    let places = table.places(of: current, in: former)
    old = former.layout
    new = current.layout
    sources = current.columns.enumerated().map { position, number in
      let place = places[position]
      if former.columns.contains(number) { return Source(place: place) }
      // If there is a former column, the value noted for the new one is for its nulls.
      let fill =
        place == nil
        ? table.fill(of: number, fills)
        : fills[number].map { TableDefinition.Fill(row: $0, type: current.layout.types[position]) }
      return Source(place: place, fill: fill)
    }
    self.defaults = defaults
  }

  /// Writes a row in the current layout.
  ///
  /// - Throws: What `open` throws, which reads a value that moves back from its own file into its row.
  package func convert(
    _ row: RawSpan,
    into writer: inout RowWriter,
    open: (_ column: Int, BlobReference) throws -> Blob
  ) throws -> Range<Int> {
    writer.begin(new)
    for column in 0..<new.count { try convert(column, of: row, into: &writer, open: open) }
    return writer.finish()
  }

  /// Writes a column of the row that the writer is at, which is in the wanted layout.
  func convert(
    _ column: Int,
    of row: RawSpan,
    into writer: inout RowWriter,
    open: (_ column: Int, BlobReference) throws -> Blob
  ) throws {
    let source = sources[column]
    if let place = source.place, source.fill == nil || !old.isNull(place, in: row) {
      try copy(column, from: row, place, of: old, into: &writer, open)
    } else if let fill = source.fill {
      try unsafe fill.row.withUnsafeBytes {
        try unsafe copy(column, from: $0.bytes, 0, of: fill.layout, into: &writer, open)
      }
    } else {
      unsafe defaults.withUnsafeBytes {
        unsafe writer.copy(column, from: $0.bytes, column: column, layout: new)
      }
    }
  }

  private func copy(
    _ column: Int,
    from row: RawSpan,
    _ source: Int,
    of old: RowLayout,
    into writer: inout RowWriter,
    _ open: (Int, BlobReference) throws -> Blob
  ) throws {
    if old.types[source] == new.types[column] {
      return writer.copy(column, from: row, column: source, layout: old)
    }
    if old.isNull(source, in: row) { return }
    if old.types[source].canBecomeList(new.types[column]) {
      return writer.append(column, references: CollectionOfOne(old.reference(source, in: row)))
    }
    guard old.types[source] == .blob else {
      let range = old.range(source, in: row)
      return writer.append(column, inlineBlob: row.extracting(range))
    }
    switch old.blob(source, in: row) {
    case nil: return
    case .inline(let range): writer.append(column, bytes: row.extracting(range))
    case .external(let blob):
      try open(column, blob).withBytes { writer.append(column, bytes: $0) }
    }
  }
}

extension TableDefinition {
  /// A value noted for rows that lack a column.
  fileprivate struct Fill {
    /// A row of one column.
    let row: [UInt8]
    let layout: RowLayout

    init(row: [UInt8], type: ColumnType) {
      self.row = row
      layout = RowLayout([type])
    }

    var isNull: Bool {
      unsafe row.withUnsafeBytes { unsafe layout.isNull(0, in: $0.bytes) }
    }

    /// Copies the value to a column of the same type.
    func copy(to column: Int, of writer: inout RowWriter) {
      unsafe row.withUnsafeBytes {
        unsafe writer.copy(column, from: $0.bytes, column: 0, layout: layout)
      }
    }
  }

  /// The value noted for rows that have neither a column nor one that held its property's values before.
  ///
  /// A null that was noted for one of those is, as one in it, what the value for the column itself is for.
  fileprivate func fill(of number: UInt16, _ fills: [UInt16: [UInt8]]) -> Fill? {
    func fill(_ number: UInt16) -> Fill? {
      guard let row = fills[number], let column = column(number) else { return nil }
      return Fill(row: row, type: column.type)
    }
    return predecessors(of: number).reversed().lazy.compactMap(fill).first { !$0.isNull }
      ?? fill(number)
  }

  /// The place in a former layout of each column of another; `nil` if it has none there.
  fileprivate func places(of current: LayoutDefinition, in former: LayoutDefinition) -> [Int?] {
    let places = Dictionary(
      former.columns.enumerated().map { ($1, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    return current.columns.map { number in
      places[number] ?? predecessors(of: number).lazy.compactMap { places[$0] }.first
    }
  }

  /// The columns that held a property's values before the values moved into or out of files, newest first.
  func predecessors(of number: UInt16) -> [UInt16] {
    guard let column = column(number) else { return [] }
    return columns.reversed().filter { other in
      other.isRetired && other.name == column.name
        && (other.type == column.type || other.type.canMove(to: column.type)
          || other.type.canBecomeList(column.type))
    }.map(\.number)
  }
}

extension TableDefinition {
  /// Whether a column came when the table had been written before.
  func gained(_ column: UInt16) -> Bool { layouts.first?.columns.contains(column) == false }

  /// Whether rows are written without a column.
  func isHidden(_ column: UInt16) -> Bool {
    layout(currentLayout)?.columns.contains(column) == false
  }
}

extension ModelDescriptor {
  /// Whether a column's property may be nil.
  fileprivate func isOptional(_ column: Int) -> Bool {
    column < properties.count && properties[column].isOptional
  }
}

extension ColumnType {
  /// Whether values of this type become values of another when they move into files of their own, or back.
  func canMove(to other: ColumnType) -> Bool {
    switch (self, other) {
    case (.bytes, .blob), (.structured, .blob), (.blob, .bytes), (.blob, .structured): true
    default: false
    }
  }

  /// Whether a value of this type becomes the only member of a list of the other type.
  func canBecomeList(_ other: ColumnType) -> Bool { self == .reference && other == .references }
}
