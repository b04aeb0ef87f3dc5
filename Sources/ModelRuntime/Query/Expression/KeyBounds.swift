import Foundation
import RowFormat

/// The part of a list of models, ordered by a key, that a fetch asks for: that within bounds on the key, or behind a position.
struct KeyBounds {
  /// A number that the key is compared with.
  struct Bound {
    let relation: QueryExpression.Relation
    let value: QueryValue

    /// Whether the values within the bound are the first ones in an order.
    func isEnd(in order: SortOrder) -> Bool {
      relation.isLess ? order == .forward : order == .reverse
    }

    var includesEqual: Bool { relation == .lessOrEqual || relation == .greaterOrEqual }
    /// Whether no number is within the bound.
    var isOfNothing: Bool { if case .double(let value) = value { value.isNaN } else { false } }
  }

  /// All of them hold; null and what is not a number are within none.
  var numbers: [Bound] = []
  var position: PagePosition?

  var isEmpty: Bool { numbers.isEmpty && position == nil }
}

extension QueryExpression {
  /// Takes the bounds on a key out of the condition.
  ///
  /// - Parameters:
  ///   - key: The first key of a list, if it has any.
  ///   - bounds: Receives the bounds.
  /// - Returns: The rest; `nil` if nothing else is left.
  func takingBounds(on key: RowOrdering.Key?, _ bounds: inout KeyBounds) -> QueryExpression? {
    if case .and(let lhs, let rhs) = self {
      let lhs = lhs.takingBounds(on: key, &bounds)
      let rhs = rhs.takingBounds(on: key, &bounds)
      guard let lhs, let rhs else { return lhs ?? rhs }
      return .and(lhs, rhs)
    }
    if case .behind(let position) = self, bounds.position == nil {
      bounds.position = position
      return nil
    }
    guard let bound = key.flatMap({ keyBound(on: $0) }) else { return self }
    bounds.numbers.append(bound)
    return nil
  }

  /// The first of the row's own attributes that the condition sets bounds on.
  var boundedKey: RowOrdering.Key? {
    switch self {
    case .and(let lhs, let rhs): return lhs.boundedKey ?? rhs.boundedKey
    case .comparison(_, .column(let path, let reading), .constant, _),
      .comparison(_, .constant, .column(let path, let reading), _):
      let key = RowOrdering.Key(
        source: .column(path, reading),
        order: .forward,
        textOrder: nil
      )
      return keyBound(on: key) == nil ? nil : key
    default: return nil
    }
  }

  /// The bound that the expression sets on a key.
  func keyBound(on key: RowOrdering.Key) -> KeyBounds.Bound? {
    guard case .comparison(let relation, let lhs, let rhs, let kind) = self,
      relation != .equal, relation != .notEqual
    else { return nil }
    switch (lhs, rhs) {
    case (let value, .constant(let bound)) where value.isNumber(of: key, kind, like: bound):
      return KeyBounds.Bound(relation: relation, value: bound)
    case (.constant(let bound), let value) where value.isNumber(of: key, kind, like: bound):
      return KeyBounds.Bound(relation: relation.mirrored, value: bound)
    default: return nil
    }
  }

  /// Whether the expression is a key whose order is that of `<`, but for null and what is not a number.
  private func isNumber(
    of key: RowOrdering.Key,
    _ kind: QueryKind,
    like bound: QueryValue
  ) -> Bool {
    guard case .column(let path, let reading) = self,
      case .column(let own, let ownReading) = key.source, kind == reading.kind,
      path.isSameRow(as: own), reading.isSame(as: ownReading)
    else { return false }
    return switch (kind, bound) {
    case (.integer, .integer), (.double, .double), (.float, .double), (.date, .double): true
    default: false
    }
  }
}

extension QueryExpression.Relation {
  fileprivate var isLess: Bool { self == .less || self == .lessOrEqual }
}
