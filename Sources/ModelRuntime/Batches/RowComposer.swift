import Foundation
import RowFormat

/// Composes rows of one class from the values of some properties and a base row for the others: a stored row, or one of
/// defaults.
///
/// The values come in any order, but those of variable width must be in the order of their columns to be written into the row
/// itself, which begins as a copy of the row of defaults. Otherwise they are first written into a row of their own, whose
/// columns are those of the batch, and copied from there.
final class RowComposer {
  let descriptor: ModelDescriptor
  /// The properties whose values the batch has, in its order.
  let properties: [ModelProperty]
  private let givenLayout: RowLayout
  /// Whether a value of the batch may be in a file of its own.
  private let hasBlobs: Bool
  /// The column of each of the batch's properties in a row of values.
  let columns: [Int]
  /// Initial bytes of a row of values; `nil` if its columns are not those of the class.
  private let template: [UInt8]?
  /// For each column of the class, the column of its value in a row of values.
  private let places: [Int?]
  /// For each property of the batch with a rank, its own column and the column of the rank.
  private let ranks: [(place: Int, reference: Int, column: Int)]
  /// The columns that the batch changes.
  let changed: ColumnSet
  /// The columns that are, or may be, written as they were read, in ascending order: concurrent changes of them must not be
  /// lost.
  ///
  /// They share a mark with a column that the batch changes, or are places in lists, where a row keeps its place if it is set
  /// to the owner it already has.
  let columnsWrittenAsRead: [Int]
  private let defaults: [UInt8]
  /// Encodes the values of a row.
  @safe @exclusivity(unchecked) var encoder = _RowEncoder(references: ReferenceList())
  /// Takes values that are too large for a row when rows are put together, if values were written before there was a commit
  /// that the ``encoder`` could give them to.
  var blobs: (any RowChangeSink)?
  @safe @exclusivity(unchecked) private var writer = RowWriter()

  /// The use of the values.
  enum Purpose {
    /// Rows that may be new.
    case rows
    /// Changes of rows that are there.
    case changes
  }

  /// - Parameters:
  ///   - descriptor: The class.
  ///   - properties: The properties whose values the batch has, in its order.
  ///   - purpose: The use of the values.
  /// - Throws: ``SwiftDataError/unsupportedKeyPath`` if a property is there twice.
  init(
    _ descriptor: ModelDescriptor,
    _ properties: [ModelProperty],
    for purpose: Purpose
  ) throws {
    self.descriptor = descriptor
    self.properties = properties
    // Changes begin as the stored rows.
    defaults = purpose == .rows ? descriptor.currentDefaultRow(without: properties) : []
    template =
      purpose == .rows ? Self.template(descriptor, properties, defaults: defaults) : nil
    let layout =
      template == nil ? RowLayout(properties.map(\.columnType)) : descriptor.layout
    givenLayout = layout
    hasBlobs = layout.types.contains(.blob)
    columns = template == nil ? Array(properties.indices) : properties.map(\.ordinal)
    var places = [Int?](repeating: nil, count: descriptor.layout.types.count)
    var ranks: [(place: Int, reference: Int, column: Int)] = []
    var changed = ColumnSet()
    for (place, property) in zip(columns, properties) {
      guard places[property.ordinal] == nil else {
        throw SwiftDataError.unsupportedKeyPath.explained(
          "\(property.name) is named twice in one batch",
          entity: descriptor.entityName,
          property: property.name
        )
      }
      places[property.ordinal] = place
      changed.insert(property.ordinal)
      if let column = descriptor.rankColumns[property.ordinal] {
        ranks.append((place, property.ordinal, column))
        changed.insert(column)
      }
    }
    self.places = places
    self.ranks = ranks
    self.changed = changed
    let ranked = ranks.map(\.column)
    let unset = descriptor.layout.columnsWritten(with: Set(properties.map(\.ordinal) + ranked))
    columnsWrittenAsRead = (unset + ranked).sorted()
  }

  /// Returns the initial bytes of new rows: the defaults of properties that the batch does not name, and nulls.
  ///
  /// - Returns: `nil` if the values of a row cannot be appended to them in the order they come.
  private static func template(
    _ descriptor: ModelDescriptor,
    _ properties: [ModelProperty],
    defaults: [UInt8]
  ) -> [UInt8]? {
    let layout = descriptor.layout
    let named = properties.map(\.ordinal)
    let variable = named.filter { layout.types[$0].isVariable }
    guard zip(variable, variable.dropFirst()).allSatisfy({ $0 < $1 }),
      named.allSatisfy({ descriptor.rankColumns[$0] == nil })
    else { return nil }
    var writer = RowWriter(capacity: defaults.count + 16)
    writer.begin(layout)
    for column in layout.types.indices where !named.contains(column) {
      let isEmpty = unsafe defaults.withUnsafeBytes { bytes in
        let row = unsafe bytes.bytes
        return !layout.types[column].isVariable || layout.range(column, in: row).isEmpty
      }
      // Bytes of a default would follow those of a value.
      guard isEmpty else { return nil }
      unsafe defaults.withUnsafeBytes { bytes in
        unsafe writer.copy(column, from: bytes.bytes, column: column, layout: layout)
      }
    }
    let row = writer.finish()
    return unsafe writer.bytes.extracting(row).withUnsafeBytes { unsafe Array($0) }
  }

  /// Whether the batch has a value for every column, so that rows need no base row.
  var isOfAllColumns: Bool {
    places.indices.allSatisfy { column in
      places[column] != nil || ranks.contains { $0.column == column }
    }
  }

  /// The columns in a row of values for some columns of the class; `nil` if one of them has no value.
  func positions(of columns: [Int]) -> [Int]? {
    let positions = columns.compactMap { places[$0] }
    return positions.count == columns.count ? positions : nil
  }

  /// Whether a value of the batch includes a place in a list.
  var writesRanks: Bool { !ranks.isEmpty }

  /// Checks that new rows have all required values.
  ///
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for a property without a value or default.
  func checkIsComplete() throws {
    for property in descriptor.properties where places[property.ordinal] == nil {
      if let problem = property.problemIfMissing {
        throw SwiftDataError.modelValidationFailure.explained(
          "\(descriptor.entityName).\(property.name) \(problem): name it in the batch",
          entity: descriptor.entityName,
          property: property.name
        )
      }
    }
  }

  /// Begins a row of values, which are written into ``encoder``.
  func begin() {
    guard let template else { return encoder.begin(givenLayout) }
    unsafe template.withUnsafeBytes { unsafe encoder.begin(givenLayout, as: $0.bytes) }
  }

  /// Ends a row of values.
  ///
  /// - Returns: The range of the row, valid until ``removeAll()``.
  /// - Throws: The error of encoding a value.
  func finish() throws -> Range<Int> {
    let range = encoder.writer.finish()
    if let failure = encoder.failure { throw failure }
    return range
  }

  /// Forgets the rows of values.
  func removeAll() { encoder.writer.removeAll() }

  /// Appends the key that some values of a row form.
  ///
  /// - Returns: Its number; `nil` for values that form no key.
  func appendKey(_ positions: [Int], of values: Range<Int>, to keys: inout KeyList) -> Int? {
    encoder.withRow(values) { keys.append(positions, of: $0, givenLayout) }
  }

  /// Returns the change that sets a property's column to the value in a row of values.
  ///
  /// - Returns: `nil` for a column of variable width.
  func constant(_ position: Int, of values: Range<Int>) -> FixedChange? {
    encoder.withRow(values) {
      FixedChange(
        properties[position].ordinal,
        of: descriptor.layout,
        to: $0,
        column: columns[position],
        of: givenLayout
      )
    }
  }

  /// Lends a row in which columns of fixed width are changed.
  ///
  /// - Parameters:
  ///   - base: The row before.
  ///   - changes: The change of each column.
  ///   - body: Takes the row.
  /// - Returns: `false`, with nothing lent, if one of the changes has no result.
  func withRow(
    _ base: RawSpan,
    changing changes: [FixedChange],
    _ body: (RawSpan) -> Void
  ) -> Bool {
    writer.removeAll()
    let row = writer.append(row: base)
    defer { writer.removeAll() }
    guard changes.apply(to: &writer, descriptor.layout) else { return false }
    body(writer.bytes.extracting(row))
    return true
  }

  /// Lends a new row.
  ///
  /// - Parameters:
  ///   - values: The places of its values.
  ///   - rank: Makes a place at the end of a list.
  ///   - body: Takes the row.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  func withNewRow<R>(
    _ values: Range<Int>,
    rank: () throws -> Int64,
    _ body: (RawSpan) throws -> R
  ) throws -> R {
    // The values are then already in the row.
    if template != nil, blobs == nil || !hasBlobs { return try encoder.withRow(values, body) }
    return try unsafe defaults.withUnsafeBytes {
      try unsafe withRow($0.bytes, values, rank: rank, body)
    }
  }

  /// Lends a row with the batch's values, and those of another row for the rest.
  func withRow<R>(
    _ base: RawSpan,
    _ values: Range<Int>,
    rank: () throws -> Int64,
    _ body: (RawSpan) throws -> R
  ) throws -> R {
    let layout = descriptor.layout
    writer.begin(layout)
    for column in places.indices {
      if let place = places[column] {
        try encoder.withRow(values) { try copyValue(to: column, from: $0, place) }
      } else if !ranks.contains(where: { $0.column == column }) {
        writer.copy(column, from: base, column: column, layout: layout)
      }
    }
    for (place, reference, column) in ranks {
      let target = encoder.withRow(values) {
        givenLayout.isNull(place, in: $0) ? nil : givenLayout.reference(place, in: $0)
      }
      guard let target else { continue }
      if !layout.isNull(reference, in: base), layout.reference(reference, in: base) == target,
        !layout.isNull(column, in: base)
      {
        // A column set to its old value keeps its place in the list.
        writer.copy(column, from: base, column: column, layout: layout)
      } else {
        writer.set(column, integer: try rank())
      }
    }
    let range = writer.finish()
    defer { writer.removeAll() }
    return try body(writer.bytes.extracting(range))
  }

  /// Writes a value of the batch, or its location if it is too large for the row.
  private func copyValue(to column: Int, from values: RawSpan, _ place: Int) throws {
    if let blobs, case .inline(let range)? = givenLayout.blob(place, in: values),
      let blob = try blobs.addBlob(values.extracting(range))
    {
      writer.append(column, blob: blob)
    } else {
      writer.copy(column, from: values, column: place, layout: givenLayout)
    }
  }
}

extension ModelProperty {
  /// The reason a new row must have a value of the property; `nil` if it need not.
  fileprivate var problemIfMissing: String? {
    if isToMany {
      return (relationship?.minimumModelCount ?? 0) > 0 ? "must hold models" : nil
    }
    if isRelationship { return isOptional ? nil : "must refer to a model" }
    // A default is made once for all rows, so it cannot serve a value that must differ from row to row.
    if attribute?.isUnique ?? false, !isOptional { return "is unique" }
    if defaultValue is UUID { return "has one default for all rows" }
    return isOptional || defaultValue != nil ? nil : "has no default"
  }
}
