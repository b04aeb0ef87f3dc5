import LogEngine
import ModelRuntime
import RowFormat

/// Interprets the records of one table as changes to the models of its entity.
final class EntityHistory {
  let table: EntityTable
  let changes: HistoryChangeMaker
  /// Whether relationships make the entity's rows members of lists.
  let hasOwners: Bool
  private var layouts: [LayoutHistory?] = []

  init(_ table: EntityTable, storeIdentifier: String) {
    self.table = table
    changes = .make(for: table.descriptor, storeIdentifier: storeIdentifier)
    hasOwners = table.descriptor.relationships.contains {
      !$0.isToMany && $0.inverse?.isDerivable == true
    }
  }

  /// Returns the reading of a layout's rows.
  ///
  /// - Throws: ``LogStoreError/unreadableRow(entity:key:)`` for a layout that is not on record,
  ///   ``LogStoreError/schemaNotInStore(entity:path:)`` for one of other models, of another process.
  func layout(_ number: LayoutNumber, key: UInt64) throws -> LayoutHistory {
    let index = Int(number.rawValue)
    if index < layouts.count, let known = layouts[index] { return known }
    guard let made = LayoutHistory(number, of: table) else {
      throw table.unreadableRow(key, number)
    }
    while layouts.count <= index { layouts.append(nil) }
    layouts[index] = made
    return made
  }
}

/// The properties that the columns of one layout belong to today.
///
/// A column keeps its number through renames and moves; a column whose property the class no longer has belongs to
/// none.
final class LayoutHistory {
  let layout: RowLayout
  /// For each column, the ordinal of its property; of a rank, that of the relationship it belongs to.
  let ordinals: [Int?]
  /// The to-one relationships whose other ends are lists made of them.
  let memberships: [Membership]
  /// All properties that have a column.
  let everything: ColumnSet

  /// A column that makes a row the member of a list.
  struct Membership {
    let column: Int
    /// The column of the place in the list.
    let rank: Int?
    /// The list, among the owner's properties.
    let list: Int
  }

  init?(_ number: LayoutNumber, of table: EntityTable) {
    guard let (layout, places) = table.places(in: number) else { return nil }
    let descriptor = table.descriptor
    self.layout = layout
    var ordinals = [Int?](repeating: nil, count: layout.count)
    var everything = ColumnSet()
    for (column, place) in places.enumerated() {
      guard let place else { continue }
      let ordinal =
        column < descriptor.properties.count
        ? column : descriptor.rankColumns.first { $0.value == column }?.key
      ordinals[place] = ordinal
      if let ordinal { everything.insert(ordinal) }
    }
    self.ordinals = ordinals
    self.everything = everything
    memberships = descriptor.relationships.compactMap { property in
      guard !property.isToMany, let inverse = property.inverse, inverse.isDerivable,
        let column = places[property.ordinal], layout.types[column] == .reference
      else { return nil }
      let rank = descriptor.rankColumns[property.ordinal].flatMap { places[$0] }
      return Membership(column: column, rank: rank, list: inverse.ordinal)
    }
  }

  /// The properties of columns.
  func properties(of columns: ColumnSet) -> ColumnSet {
    var properties = ColumnSet()
    for (column, ordinal) in ordinals.enumerated() where columns.contains(column) {
      if let ordinal { properties.insert(ordinal) }
    }
    return properties
  }

  /// The row that a column names.
  func target(_ column: Int, in row: RawSpan) -> RowReference? {
    layout.isNull(column, in: row) ? nil : layout.reference(column, in: row)
  }

  /// The properties in which a row differs from an earlier state of it, in whatever layout.
  func difference(of row: RawSpan, from before: RawSpan, _ former: LayoutHistory) -> ColumnSet {
    var properties = ColumnSet()
    for (column, ordinal) in ordinals.enumerated() {
      guard let ordinal, !properties.contains(ordinal) else { continue }
      let source = former === self ? column : former.column(like: column, in: self)
      guard let source else {
        properties.insert(ordinal)
        continue
      }
      if !layout.isEqual(column, in: row, to: source, in: before, former.layout) {
        properties.insert(ordinal)
      }
    }
    return properties
  }

  /// The column that holds what a column of another layout does: of the same property and the same kind.
  private func column(like column: Int, in other: LayoutHistory) -> Int? {
    ordinals.indices.first {
      ordinals[$0] == other.ordinals[column] && layout.types[$0] == other.layout.types[column]
    }
  }
}

extension RowLayout {
  /// Whether a column has the value that one has in another row.
  fileprivate func isEqual(
    _ column: Int,
    in row: RawSpan,
    to otherColumn: Int,
    in other: RawSpan,
    _ otherLayout: RowLayout
  ) -> Bool {
    let isNull = isNull(column, in: row)
    guard isNull == otherLayout.isNull(otherColumn, in: other) else { return false }
    if isNull { return true }
    let (range, otherRange) = (bytes(column, in: row), otherLayout.bytes(otherColumn, in: other))
    guard range.count == otherRange.count else { return false }
    return unsafe row.extracting(range).withUnsafeBytes { bytes in
      unsafe other.extracting(otherRange).withUnsafeBytes { unsafe bytes.elementsEqual($0) }
    }
  }

  private func bytes(_ column: Int, in row: RawSpan) -> Range<Int> {
    if types[column].isVariable { return range(column, in: row) }
    let start = offset(of: column)
    return start..<(start + types[column].fixedWidth)
  }
}
