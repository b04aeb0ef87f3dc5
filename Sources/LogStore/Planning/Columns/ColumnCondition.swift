import LogEngine
import RowFormat

/// A condition on one column: on its values, on rows in which it is null, and on rows that were written before
/// the table had it.
struct ColumnCondition {
  /// The column's position among those that are scanned.
  let position: Int
  /// Its number in the catalogue.
  let number: UInt16
  let values: ValueCondition
  /// Whether a row passes if its value does not meet the condition.
  let isNegated: Bool
  let ifNull: Bool
  let ifLacking: Bool

  func narrow(_ rows: inout RowSelection, of batch: borrowing ColumnBatch) throws {
    let vector = try batch.column(position)
    if vector.nullCount == 0 { return narrowValues(&rows, vector) }
    let nulls = passingNulls(rows, vector, batch)
    narrowValues(&rows, vector)
    if let nulls { rows.formUnion(nulls) }
  }

  private func narrowValues(_ rows: inout RowSelection, _ vector: ColumnVector) {
    guard isNegated else { return values.narrow(&rows, vector) }
    vector.keepValues(in: &rows)
    var passing = rows
    values.narrow(&passing, vector)
    rows.subtract(passing)
  }

  /// The rows without a value that pass; `nil` if none does.
  private func passingNulls(
    _ rows: RowSelection,
    _ vector: ColumnVector,
    _ batch: borrowing ColumnBatch
  ) -> RowSelection? {
    let isLacking = batch.isLacking(position)
    guard ifNull || ifLacking && isLacking else { return nil }
    var nulls = rows
    vector.keepNulls(in: &nulls)
    guard isLacking, ifNull != ifLacking else { return nulls }
    var lacking = nulls
    batch.keepLacking(position, in: &lacking)
    if ifLacking { return lacking }
    nulls.subtract(lacking)
    return nulls
  }

  /// The common property of the rows that pass, as far as the bounds of a block tell.
  var zone: ZoneCondition? {
    if case .nothing = values, !isNegated { return ifNull ? .null(column: number) : nil }
    guard let zone = isNegated ? .notNull(column: number) : values.zone(number) else { return nil }
    return ifNull || ifLacking ? .orNull(zone) : zone
  }
}

/// A condition on a value that is there.
enum ValueCondition {
  case nothing
  case everything
  /// One of some runs of integers, each of which may continue beyond the greatest with the least.
  case integers([IntegerRun])
  case integerSet(Set<Int64>)
  /// A value that is not a number is in no range.
  case doubles(ClosedRange<Double>)
  case bool(Bool)
  case uuid(low: UInt64, high: UInt64)
  case text(TextCondition)

  /// Some consecutive integers: the first, and the distance from it to the last.
  struct IntegerRun {
    let first: Int64
    let distance: UInt64

    /// The greatest, if no lesser one follows the first.
    var last: Int64? {
      let last = first &+ Int64(bitPattern: distance)
      return last >= first ? last : nil
    }
  }

  func narrow(_ rows: inout RowSelection, _ vector: ColumnVector) {
    switch self {
    case .nothing: rows.removeAll()
    case .everything: vector.keepValues(in: &rows)
    case .integers(let runs):
      guard runs.count > 1 else {
        guard let run = runs.first else { return rows.removeAll() }
        return vector.keep(integersFrom: run.first, distance: run.distance, in: &rows)
      }
      var passing = rows
      passing.removeAll()
      for run in runs {
        var some = rows
        vector.keep(integersFrom: run.first, distance: run.distance, in: &some)
        passing.formUnion(some)
      }
      rows = passing
    case .integerSet(let wanted): vector.keep(integersWhere: wanted.contains, in: &rows)
    case .doubles(let range): vector.keep(doubles: range, in: &rows)
    case .bool(let wanted): vector.keep(bools: wanted, in: &rows)
    case .uuid(let low, let high): vector.keep(identifier: low, high, in: &rows)
    case .text(let condition): vector.keep(where: &condition.test, in: &rows)
    }
  }

  fileprivate func zone(_ column: UInt16) -> ZoneCondition? {
    switch self {
    case .integers(let runs):
      let ends = runs.compactMap(\.last)
      guard ends.count == runs.count, let least = runs.map(\.first).min(), let greatest = ends.max()
      else { return nil }
      return .integer(column: column, least...greatest)
    case .integerSet(let wanted):
      guard let least = wanted.min(), let greatest = wanted.max() else { return nil }
      return .integer(column: column, least...greatest)
    case .doubles(let range): return .double(column: column, range)
    case .bool(let wanted): return .integer(column: column, wanted ? 1...1 : 0...0)
    case .text(let condition):
      return condition.bytes.map { .bytes(column: column, from: $0, through: $1) }
    case .everything: return .notNull(column: column)
    case .nothing, .uuid: return nil
    }
  }
}

/// A condition on a text.
final class TextCondition {
  /// Remembers its answers for a dictionary.
  var test: ValueTest
  /// Bounds of the bytes of texts that pass, if they are known.
  let bytes: (from: [UInt8], through: [UInt8])?

  init(_ test: @escaping (RawSpan) -> Bool, bytes: (from: [UInt8], through: [UInt8])? = nil) {
    self.test = ValueTest(test)
    self.bytes = bytes
  }

  /// Tests that texts are equal to a constant, or begin with it.
  convenience init(
    _ test: @escaping (RawSpan) -> Bool,
    of constant: String,
    _ extent: Extent
  ) {
    let utf8 = Array(constant.utf8)
    let end = extent == .whole ? utf8 : utf8 + Array(repeating: 0xFF, count: 8)
    self.init(test, bytes: constant.isSpelledOneWay ? (utf8, end) : nil)
  }

  enum Extent { case whole, beginning }
}

extension String {
  /// Whether no text of other bytes is equal to this one.
  ///
  /// Swift compares texts by canonical equivalence. Of ASCII, three characters have a double elsewhere: the Kelvin
  /// sign is a K, and Greek has a semicolon and a grave accent of its own.
  fileprivate var isSpelledOneWay: Bool {
    utf8.allSatisfy {
      $0 < 0x80 && $0 != UInt8(ascii: "K") && $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "`")
    }
  }
}
