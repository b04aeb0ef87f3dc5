import Foundation
import RowFormat

/// The order of a fetch's models: by its sort keys, and those with equal keys in the order of their rows in the store; models
/// without a row come last, in the order of insertion.
///
/// A store that keeps rows orders them the same way, so the order stays once everything is saved.
struct ModelOrder<T: PersistentModel> {
  private let keys: PlaceKeys

  /// - Parameters:
  ///   - sort: The sort keys.
  ///   - ordering: The same in the form over rows, if it has one.
  ///
  /// The result is `nil` for a key that rows are not ordered by.
  init?(_ sort: [SortDescriptor<T>], _ ordering: RowOrdering?) {
    guard let ordering else { return nil }
    var keys: [PlaceKeys.Key] = []
    for index in sort.indices {
      let key = ordering.keys[index]
      guard case .column(_, let reading) = key.source, let keyPath = sort[index].keyPath,
        let read = ResultOrder.reader(of: keyPath)
      else { return nil }
      let rule = SortRule(kind: reading.kind, order: key.order, textOrder: key.textOrder)
      keys.append(PlaceKeys.Key(read: read, rule: rule))
    }
    self.keys = PlaceKeys(keys: keys)
  }

  /// Compares two models; the sign is the order, 0 only if both have no row.
  func compare(_ lhs: T, _ rhs: T) -> Int {
    keys.compare(keys.place(of: lhs, at: lhs.row), keys.place(of: rhs, at: rhs.row))
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
    var search = PlaceSearch(keys, among: models.count)
    var start = 0
    for addition in additions {
      let place = search.position(of: keys.place(of: addition, at: addition.row), from: start) {
        keys.place(of: models[$0], at: models[$0].row)
      }
      merged += models[start..<place]
      merged.append(addition)
      start = place
    }
    merged += models[start...]
    return merged
  }
}

/// The sort keys of a fetch, as they are read from its models.
///
/// Not generic, for the same reason as ``ResultOrder``.
private struct PlaceKeys {
  struct Key {
    let read: (AnyObject) -> QueryValue
    let rule: SortRule
  }

  /// The keys of a model, and its row; no row is behind all others.
  struct Place {
    let values: [QueryValue]
    let row: UInt64
  }

  let keys: [Key]

  func place(of model: AnyObject, at row: RowReference?) -> Place {
    Place(values: keys.map { $0.read(model) }, row: row?.rawValue ?? .max)
  }

  func compare(_ lhs: Place, _ rhs: Place) -> Int {
    for index in keys.indices {
      let order = keys[index].rule.compare(lhs.values[index], rhs.values[index])
      if order != 0 { return order }
    }
    return lhs.row < rhs.row ? -1 : lhs.row > rhs.row ? 1 : 0
  }
}

/// A search for places in a sorted list, which reads the keys of each model once at most.
private struct PlaceSearch {
  private let keys: PlaceKeys
  /// The places of the list's models that were looked at.
  private var known: [PlaceKeys.Place?]

  init(_ keys: PlaceKeys, among count: Int) {
    self.keys = keys
    known = Array(repeating: nil, count: count)
  }

  /// The position before which a model belongs.
  ///
  /// The search widens from its start: many additions are close together.
  mutating func position(
    of place: PlaceKeys.Place,
    from start: Int,
    _ read: (Int) -> PlaceKeys.Place
  ) -> Int {
    var lower = start
    var step = 1
    var upper = start
    while upper < known.count, isBefore(place, upper, read) {
      lower = upper + 1
      upper += step
      step *= 2
    }
    upper = min(upper, known.count)
    while lower < upper {
      let middle = lower + (upper - lower) / 2
      if isBefore(place, middle, read) { lower = middle + 1 } else { upper = middle }
    }
    return lower
  }

  /// Whether the model at a position comes before a place.
  private mutating func isBefore(
    _ place: PlaceKeys.Place,
    _ position: Int,
    _ read: (Int) -> PlaceKeys.Place
  ) -> Bool {
    let own = known[position] ?? read(position)
    known[position] = own
    return keys.compare(own, place) <= 0
  }
}
