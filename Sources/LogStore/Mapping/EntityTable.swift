import LogEngine
import ModelRuntime
import RowFormat
import Synchronization

/// The table of one entity, and how its older rows are read.
final class EntityTable: Sendable {
  let number: UInt16
  let descriptor: ModelDescriptor
  /// The layout in which rows are written, and handed out.
  let layoutNumber: LayoutNumber
  /// The columns whose values a delete writes down for the history.
  let preservedColumns: [Int]
  private let definition: TableDefinition
  private let converters = Mutex<[LayoutNumber: RowConverter]>([:])

  init(_ definition: TableDefinition, _ descriptor: ModelDescriptor) {
    self.definition = definition
    self.descriptor = descriptor
    number = definition.number
    layoutNumber = definition.currentLayout
    preservedColumns = descriptor.properties.filter {
      $0.attribute?.options.contains(.preserveValueOnDeletion) ?? false
    }.map(\.ordinal)
  }

  var layout: RowLayout { descriptor.layout }

  /// Hands a row to a closure in the current layout, converted if it was written in another.
  ///
  /// - Throws: ``LogStoreError/unreadableRow(entity:key:)`` for a layout that is not on record.
  func withCurrentRow<R>(
    _ row: RawSpan,
    layout: LayoutNumber,
    key: UInt64,
    _ body: (RawSpan) throws -> R
  ) throws -> R {
    if layout == layoutNumber { return try body(row) }
    let converter = try converters.withLock { converters in
      if let known = converters[layout] { return known }
      guard let made = RowConverter(from: layout, in: definition, to: descriptor) else {
        throw LogStoreError.unreadableRow(entity: descriptor.entityName, key: key)
      }
      converters[layout] = made
      return made
    }
    var writer = RowWriter(capacity: row.byteCount + 256)
    let range = converter.convert(row, into: &writer)
    return try body(writer.bytes.extracting(range))
  }
}

/// Reads a row of an older layout as one of the current layout.
///
/// A column keeps its number through renames and moves, so a column is found by number; one that the
/// older row lacks gets the default of its property.
struct RowConverter: Sendable {
  private let old: RowLayout
  private let new: RowLayout
  /// For each current column, its place in the older row.
  private let sources: [Int?]
  /// A row of defaults, in the current layout.
  private let defaults: [UInt8]

  init?(
    from number: LayoutNumber,
    in table: TableDefinition,
    to descriptor: ModelDescriptor
  ) {
    guard let former = table.layout(number), let current = table.layout(table.currentLayout) else {
      return nil
    }
    old = former.layout
    new = descriptor.layout
    let places = Dictionary(
      former.columns.enumerated().map { ($1, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    sources = current.columns.map { places[$0] }
    defaults = descriptor.defaultRow()
  }

  func convert(_ row: RawSpan, into writer: inout RowWriter) -> Range<Int> {
    writer.begin(new)
    defaults.withUnsafeBytes { bytes in
      for column in 0..<new.count {
        if let source = sources[column] {
          writer.copy(column, from: row, column: source, layout: old)
        } else {
          writer.copy(column, from: bytes.bytes, column: column, layout: new)
        }
      }
    }
    return writer.finish()
  }
}
