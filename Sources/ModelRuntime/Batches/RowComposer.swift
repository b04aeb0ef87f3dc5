import Foundation
import RowFormat

/// Puts rows of one class together from the values of some properties and, for the others, a row to begin with: a
/// stored one, or one of defaults.
///
/// The values come in any order, and those of variable width must follow each other in the order of their columns: so they
/// are written into a row of their own first, whose columns are those of the batch, and copied from there.
final class RowComposer {
  let descriptor: ModelDescriptor
  /// The properties that the batch has values of, in its order.
  let properties: [ModelProperty]
  private let givenLayout: RowLayout
  /// For each column of the class, the position of its value among those of the batch.
  private let places: [Int?]
  /// For each property of the batch that has one, the column of its rank.
  private let ranks: [(place: Int, column: Int)]
  /// The columns that the batch changes.
  let changed: ColumnSet
  private let defaults: [UInt8]
  /// Takes the values of a row.
  @safe @exclusivity(unchecked) var encoder = _RowEncoder(references: ReferenceList())
  @safe @exclusivity(unchecked) private var writer = RowWriter()

  /// - Parameters:
  ///   - descriptor: The class.
  ///   - properties: Those that the batch has values of, in its order.
  /// - Throws: ``SwiftDataError/unsupportedKeyPath`` if one of them is there twice.
  init(_ descriptor: ModelDescriptor, _ properties: [ModelProperty]) throws {
    self.descriptor = descriptor
    self.properties = properties
    givenLayout = RowLayout(properties.map(\.columnType))
    var places = [Int?](repeating: nil, count: descriptor.layout.types.count)
    var ranks: [(place: Int, column: Int)] = []
    var changed = ColumnSet()
    for (place, property) in properties.enumerated() {
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
        ranks.append((place, column))
        changed.insert(column)
      }
    }
    self.places = places
    self.ranks = ranks
    self.changed = changed
    defaults = descriptor.defaultRow()
  }

  /// Makes sure that new rows have all that they must.
  ///
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for a property without value and default.
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

  /// Begins a row of values; they are written into ``encoder``.
  func begin() { encoder.begin(givenLayout) }

  /// Ends a row of values.
  ///
  /// - Returns: Where it stands until ``removeAll()``.
  /// - Throws: What encoding a value threw.
  func finish() throws -> Range<Int> {
    let range = encoder.writer.finish()
    if let failure = encoder.failure { throw failure }
    return range
  }

  /// Forgets the rows of values.
  func removeAll() { encoder.writer.removeAll() }

  /// Lends a new row.
  ///
  /// - Parameters:
  ///   - values: The places of its values.
  ///   - rank: Makes a place at the end of a list.
  ///   - body: Takes the row.
  /// - Returns: What `body` returned.
  /// - Throws: What `body` throws.
  func withNewRow<R>(
    _ values: Range<Int>,
    rank: () throws -> Int64,
    _ body: (RawSpan) throws -> R
  ) rethrows -> R {
    try unsafe defaults.withUnsafeBytes { try unsafe withRow($0.bytes, values, rank: rank, body) }
  }

  /// Lends a row that has the values of the batch, and those of another row for the rest.
  func withRow<R>(
    _ base: RawSpan,
    _ values: Range<Int>,
    rank: () throws -> Int64,
    _ body: (RawSpan) throws -> R
  ) rethrows -> R {
    let layout = descriptor.layout
    writer.begin(layout)
    for column in places.indices {
      if let place = places[column] {
        writer.copy(
          column,
          from: encoder.writer.bytes.extracting(values),
          column: place,
          layout: givenLayout
        )
      } else if !ranks.contains(where: { $0.column == column }) {
        writer.copy(column, from: base, column: column, layout: layout)
      }
    }
    for (place, column) in ranks
    where !givenLayout.isNull(place, in: encoder.writer.bytes.extracting(values)) {
      writer.set(column, integer: try rank())
    }
    let range = writer.finish()
    defer { writer.removeAll() }
    return try body(writer.bytes.extracting(range))
  }
}

extension ModelProperty {
  /// Why a new row must have a value of the property; `nil` if it need not.
  fileprivate var problemIfMissing: String? {
    if isToMany {
      return (relationship?.minimumModelCount ?? 0) > 0 ? "must hold models" : nil
    }
    if isRelationship { return isOptional ? nil : "must refer to a model" }
    // A default is made once for the class: what must differ from row to row is not meant by it.
    if attribute?.isUnique ?? false, !isOptional { return "is unique" }
    if defaultValue is UUID { return "has one default for all rows" }
    return isOptional || defaultValue != nil ? nil : "has no default"
  }
}
