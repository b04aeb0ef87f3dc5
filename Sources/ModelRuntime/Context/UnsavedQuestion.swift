import Foundation
import RowFormat

/// Lists of unsaved models of which a fetch wants a part of one: those that pass its condition but for the values it fixes and for
/// the bounds on one key, in one list for each combination of such values, ordered by that key.
///
/// The fetch of the next page, of the next day, of another device or of what is due by now sets other bounds or fixes other values,
/// and wants another part of the same lists.
struct UnsavedQuestion {
  /// The order of the lists.
  enum Order {
    /// That of the fetch.
    case ofFetch(RowOrdering)
    /// By an attribute.
    case by(column: Int)
  }

  private let type: ModelDescriptor
  /// The condition without the fixed values and the bounds.
  let test: QueryExpression?
  /// What the fetch reads: a model that has changed any of it is affected.
  let reading: FetchReading
  let order: Order
  /// The columns of the fixed values.
  let fixedColumns: [Int]

  fileprivate init?(
    _ type: ModelDescriptor,
    _ test: QueryExpression?,
    _ reading: FetchReading,
    _ order: Order,
    _ fixedColumns: [Int]
  ) {
    // What cannot be told from other conditions is not remembered.
    if let test, !test.asksTheSame(as: test) { return nil }
    self.type = type
    self.test = test
    self.reading = reading
    self.order = order
    self.fixedColumns = fixedColumns
  }

  func isSame(as other: UnsavedQuestion) -> Bool {
    guard type === other.type, fixedColumns == other.fixedColumns, order.isSame(as: other.order),
      reading.isSame(as: other.reading)
    else { return false }
    guard let test, let otherTest = other.test else { return test == nil && other.test == nil }
    return test.asksTheSame(as: otherTest)
  }
}

extension UnsavedQuestion.Order {
  fileprivate func isSame(as other: Self) -> Bool {
    switch (self, other) {
    case (.ofFetch(let ordering), .ofFetch(let other)): ordering.isSame(as: other)
    case (.by(let column), .by(let otherColumn)): column == otherColumn
    default: false
    }
  }
}

/// The part of a list of unsaved models that a fetch wants.
struct UnsavedSpan {
  let question: UnsavedQuestion
  /// The values that tell the list.
  let values: [QueryValue]
  let bounds: KeyBounds

  /// The part of the list in the order of the fetch.
  ///
  /// - Parameters:
  ///   - type: The class of the models.
  ///   - ordering: The order.
  ///   - expression: The translated predicate.
  ///   - reading: What the fetch reads.
  /// - Returns: `nil` for a predicate that cannot be told from others.
  static func inOrder(
    of type: ModelDescriptor,
    _ ordering: RowOrdering,
    _ expression: QueryExpression?,
    _ reading: FetchReading
  ) -> UnsavedSpan? {
    UnsavedSpan(of: type, expression, reading, .ofFetch(ordering), by: ordering.keys.first) {
      $0.isIn(ordering)
    }
  }

  /// The part of a list by the first attribute that the predicate sets bounds on.
  ///
  /// - Parameters: As of ``inOrder(of:_:_:_:)``.
  /// - Returns: `nil` also if there is no such attribute.
  static func byBoundedKey(
    of type: ModelDescriptor,
    _ expression: QueryExpression?,
    _ reading: FetchReading
  ) -> UnsavedSpan? {
    guard let key = expression?.boundedKey, case .column(let path, let read) = key.source,
      // In a class other than the predicate's, columns have other meanings.
      type.isKind(of: path.descriptor)
    else { return nil }
    return UnsavedSpan(of: type, expression, reading, .by(column: read.column), by: key) { _ in
      false
    }
  }

  private init?(
    of type: ModelDescriptor,
    _ expression: QueryExpression?,
    _ reading: FetchReading,
    _ order: UnsavedQuestion.Order,
    by key: RowOrdering.Key?,
    _ canBegin: (PagePosition) -> Bool
  ) {
    var bounds = KeyBounds()
    var fixed = FixedValues()
    let test = expression?.takingBounds(on: key, &bounds)?.takingFixedValues(of: type, &fixed)
    if let position = bounds.position, !canBegin(position) { return nil }
    guard let question = UnsavedQuestion(type, test, reading, order, fixed.columns) else {
      return nil
    }
    self.question = question
    values = fixed.values
    self.bounds = bounds
  }
}

/// The memory of a list of unsaved models.
final class UnsavedTests {
  let question: UnsavedQuestion
  /// The list, once it is kept.
  var matches: UnsavedMatches?
  /// Number of unsaved models that were tested so far, one by one.
  var testCount = 0
  /// Number of affected rows in the store's last answer to such a fetch.
  var affectedCount = 0

  init(_ question: UnsavedQuestion) { self.question = question }
}

extension PagePosition {
  /// Whether the position is one of a list: with these keys, and equal ones in the order of rows.
  fileprivate func isIn(_ ordering: RowOrdering) -> Bool {
    if case .identifier = tie { return false }
    return tieOrder == .forward && self.ordering.keys.count == ordering.keys.count
  }
}
