import Foundation
import RowFormat

/// A list of unsaved models of which a fetch wants a part: those that pass its condition but for the bounds on one key, ordered by
/// that key.
///
/// The fetch of the next page, of the next day, or of what is due by now sets other bounds, and wants another part of the same list.
struct UnsavedQuestion {
  private let type: ModelDescriptor
  /// The condition without the bounds.
  let test: QueryExpression?
  /// What the fetch reads: a model that has changed any of it is affected.
  let reading: FetchReading
  private let sort: AnyHashable
  /// The attribute that the list is ordered by; `nil` if it is in the order of the fetch.
  let column: Int?

  fileprivate init?(
    _ type: ModelDescriptor,
    _ test: QueryExpression?,
    _ reading: FetchReading,
    _ sort: AnyHashable,
    _ column: Int?
  ) {
    // What cannot be told from other conditions is not remembered.
    if let test, !test.asksTheSame(as: test) { return nil }
    self.type = type
    self.test = test
    self.reading = reading
    self.sort = sort
    self.column = column
  }

  func isSame(as other: UnsavedQuestion) -> Bool {
    guard type === other.type, column == other.column, reading.isSame(as: other.reading),
      sort == other.sort
    else { return false }
    guard let test, let otherTest = other.test else { return test == nil && other.test == nil }
    return test.asksTheSame(as: otherTest)
  }
}

/// The part of a list of unsaved models that a fetch wants.
struct UnsavedSpan {
  let question: UnsavedQuestion
  let bounds: KeyBounds

  /// The part of the list in the order of the fetch.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - expression: Its translated predicate.
  ///   - reading: What it reads.
  /// - Returns: `nil` for an order that no list has, or a predicate that cannot be told from others.
  static func inOrder<T: PersistentModel>(
    of descriptor: FetchDescriptor<T>,
    _ expression: QueryExpression?,
    _ reading: FetchReading
  ) -> UnsavedSpan? {
    guard let ordering = try? RowOrdering(descriptor.sortBy) else { return nil }
    var bounds = KeyBounds()
    let test = expression?.takingBounds(on: ordering.keys.first, &bounds)
    if let position = bounds.position, !position.isIn(ordering) { return nil }
    return UnsavedQuestion(.of(T.self), test, reading, AnyHashable(descriptor.sortBy), nil)
      .map { UnsavedSpan(question: $0, bounds: bounds) }
  }

  /// The part of a list by the first attribute that the predicate sets bounds on.
  ///
  /// - Returns: `nil` also if there is no such attribute.
  static func byBoundedKey<T: PersistentModel>(
    of descriptor: FetchDescriptor<T>,
    _ expression: QueryExpression?,
    _ reading: FetchReading
  ) -> UnsavedSpan? {
    guard let key = expression?.boundedKey, case .column(let path, let read) = key.source,
      // In a class other than the predicate's, columns have other meanings.
      ModelDescriptor.of(T.self).isKind(of: path.descriptor)
    else { return nil }
    var bounds = KeyBounds()
    let column = read.column
    let test = expression?.takingBounds(on: key, &bounds)
    if bounds.position != nil { return nil }
    return UnsavedQuestion(.of(T.self), test, reading, AnyHashable(descriptor.sortBy), column)
      .map { UnsavedSpan(question: $0, bounds: bounds) }
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
