import Foundation
import RowFormat

/// The order of a fetch's models: by its sort keys, and those with equal keys in the order of their rows in the store; models
/// without a row come last, in the order of insertion.
///
/// A store that keeps rows orders them the same way, so the order stays once everything is saved.
struct ModelOrder<T: PersistentModel> {
  private struct Key {
    let read: (AnyObject) -> QueryValue
    let rule: SortRule
  }

  private let keys: [Key]

  /// - Returns: `nil` for a key that rows are not ordered by.
  init?(_ sort: [SortDescriptor<T>]) {
    guard let ordering = try? RowOrdering(sort) else { return nil }
    var keys: [Key] = []
    for (key, descriptor) in zip(ordering.keys, sort) {
      guard case .column(_, let reading) = key.source, let keyPath = descriptor.keyPath,
        let read = ResultOrder.reader(of: keyPath)
      else { return nil }
      let rule = SortRule(kind: reading.kind, order: key.order, textOrder: key.textOrder)
      keys.append(Key(read: read, rule: rule))
    }
    self.keys = keys
  }

  /// Compares two models; the sign is the order, 0 only if both have no row.
  func compare(_ lhs: T, _ rhs: T) -> Int {
    for key in keys {
      let order = key.rule.compare(key.read(lhs), key.read(rhs))
      if order != 0 { return order }
    }
    let (lhs, rhs) = (lhs.row?.rawValue ?? .max, rhs.row?.rawValue ?? .max)
    return lhs < rhs ? -1 : lhs > rhs ? 1 : 0
  }

  /// Whether the first key of a model is a number that has a place among others.
  func isNumber(firstKeyOf model: T) -> Bool {
    switch keys.first?.read(model) {
    case .integer: true
    case .double(let value): !value.isNaN
    default: false
    }
  }

  /// Merges models into a sorted list.
  ///
  /// - Parameters:
  ///   - additions: The models, in order.
  ///   - models: The others, in order.
  /// - Returns: All of them, in order.
  /// - Complexity: O(*n*), and O(log *n*) comparisons for each addition.
  func merging(_ additions: [T], into models: [T]) -> [T] {
    if additions.isEmpty { return models }
    var merged: [T] = []
    merged.reserveCapacity(models.count + additions.count)
    var start = 0
    for addition in additions {
      let place = self.place(of: addition, in: models, from: start)
      merged += models[start..<place]
      merged.append(addition)
      start = place
    }
    merged += models[start...]
    return merged
  }

  /// The position before which a model belongs.
  ///
  /// The search widens from its start: many additions are close together.
  private func place(of model: T, in models: [T], from start: Int) -> Int {
    var lower = start
    var step = 1
    var upper = start
    while upper < models.count, compare(models[upper], model) <= 0 {
      lower = upper + 1
      upper += step
      step *= 2
    }
    upper = min(upper, models.count)
    while lower < upper {
      let middle = lower + (upper - lower) / 2
      if compare(models[middle], model) <= 0 { lower = middle + 1 } else { upper = middle }
    }
    return lower
  }
}
