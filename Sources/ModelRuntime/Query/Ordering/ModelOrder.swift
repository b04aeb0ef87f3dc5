import Foundation
import RowFormat

/// The order of a fetch's models: by its sort keys, and those with equal keys in the order of their rows in the store; models
/// without a row come last, in the order of insertion.
///
/// A store that keeps rows orders them the same way, so the order stays once everything is saved.
struct ModelOrder<T: PersistentModel> {
  private let keys: PlaceKeys
  private let stored: StoredKeys?

  /// - Parameters:
  ///   - sort: The sort keys.
  ///   - ordering: The same in the form over rows, if it has one.
  ///   - stored: The keys of models that are in the place of their rows, if these may differ from those in the context.
  ///
  /// The result is `nil` for a key that rows are not ordered by.
  init?(_ sort: [SortDescriptor<T>], _ ordering: RowOrdering?, _ stored: StoredKeys? = nil) {
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
    self.stored = stored
  }

  /// Compares two models; the sign is the order, 0 only if both have no row.
  ///
  /// - Throws: An error of reading rows.
  func compare(_ lhs: T, _ rhs: T) throws -> Int {
    try keys.compare(place(of: lhs), place(of: rhs))
  }

  private func place(of model: T) throws -> PlaceKeys.Place {
    let row = model.row
    if let values = try stored?.values(of: model, at: row) { return .init(values, row) }
    return keys.place(of: model, at: row)
  }

  /// Merges models into a sorted list.
  ///
  /// - Parameters:
  ///   - additions: The models, in order.
  ///   - models: The others, in order.
  /// - Returns: All of them, in order.
  /// - Throws: An error of reading rows.
  /// - Complexity: O(*n*), and O(log *n*) comparisons for each addition.
  func merging(_ additions: [T], into models: [T]) throws -> [T] {
    if additions.isEmpty { return models }
    var merged: [T] = []
    merged.reserveCapacity(models.count + additions.count)
    var search = PlaceSearch(keys, among: models.count)
    var start = 0
    for addition in additions {
      let end = try search.position(of: place(of: addition), from: start) {
        try place(of: models[$0])
      }
      merged += models[start..<end]
      merged.append(addition)
      start = end
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

    init(_ values: [QueryValue], _ row: RowReference?) {
      self.values = values
      self.row = row?.rawValue ?? .max
    }
  }

  let keys: [Key]

  func place(of model: AnyObject, at row: RowReference?) -> Place {
    Place(keys.map { $0.read(model) }, row)
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
    _ read: (Int) throws -> PlaceKeys.Place
  ) rethrows -> Int {
    var lower = start
    var step = 1
    var upper = start
    while upper < known.count, try isBefore(place, upper, read) {
      lower = upper + 1
      upper += step
      step *= 2
    }
    return try (lower..<min(upper, known.count)).partitionPoint { try isBefore(place, $0, read) }
  }

  /// Whether the model at a position comes before a place.
  private mutating func isBefore(
    _ place: PlaceKeys.Place,
    _ position: Int,
    _ read: (Int) throws -> PlaceKeys.Place
  ) rethrows -> Bool {
    let own = try known[position] ?? read(position)
    known[position] = own
    return keys.compare(own, place) <= 0
  }
}
