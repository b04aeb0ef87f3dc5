import Foundation

/// The comparison of two values of a sort key, the same as that of ``SortColumn`` for many rows.
struct SortRule {
  private let kind: QueryKind
  private let isReversed: Bool
  private let textOrder: TextOrder?

  init(kind: QueryKind, order: SortOrder, textOrder: TextOrder?) {
    self.kind = kind
    isReversed = order == .reverse
    self.textOrder = textOrder
  }

  /// Compares two values; the sign is the order.
  func compare(_ lhs: QueryValue, _ rhs: QueryValue) -> Int {
    isReversed ? -forward(lhs, rhs) : forward(lhs, rhs)
  }

  private func forward(_ lhs: QueryValue, _ rhs: QueryValue) -> Int {
    if lhs.isNull || rhs.isNull { return lhs.isNull == rhs.isNull ? 0 : lhs.isNull ? -1 : 1 }
    if let textOrder, case .text(let lhs) = lhs, case .text(let rhs) = rhs {
      return textOrder.compare(lhs, rhs).rawValue
    }
    if lhs.precedes(rhs, as: kind) { return -1 }
    if rhs.precedes(lhs, as: kind) { return 1 }
    // NaN comes after all numbers.
    guard case .double(let lhs) = lhs, case .double(let rhs) = rhs else { return 0 }
    return (lhs.isNaN ? 1 : 0) - (rhs.isNaN ? 1 : 0)
  }
}
