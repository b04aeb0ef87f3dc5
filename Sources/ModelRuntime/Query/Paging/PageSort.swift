import Foundation
import RowFormat

/// The order of a page's models: the descriptor's sort keys, and for equal keys the store's order of rows.
struct PageSort<T: PersistentModel> {
  /// The sort keys that are attributes.
  let descriptors: [SortDescriptor<T>]
  let ordering: RowOrdering
  /// The order of models with equal keys.
  let tieOrder: SortOrder
  private let readers: [(AnyObject) -> QueryValue]

  /// - Parameter sort: The sort; keys after the model's identifier are ignored, since no two models share one.
  /// - Throws: ``PageError/unsupportedSort(key:)``.
  init(_ sort: [SortDescriptor<T>]) throws {
    var descriptors: [SortDescriptor<T>] = []
    var readers: [(AnyObject) -> QueryValue] = []
    var tieOrder = SortOrder.forward
    for descriptor in sort {
      guard let key = try? RowOrdering([descriptor]).keys[0], let keyPath = descriptor.keyPath
      else {
        throw PageError.unsupportedSort(
          key: descriptor.keyPath.map(ModelDescriptor.of(T.self).words(for:)) ?? "\(descriptor)"
        )
      }
      if case .identifier(let path) = key.source, path.level == 0, path.steps.isEmpty {
        tieOrder = descriptor.order
        break
      }
      guard case .column = key.source, let reader = ResultOrder.reader(of: keyPath) else {
        throw PageError.unsupportedSort(key: ModelDescriptor.of(T.self).words(for: keyPath))
      }
      descriptors.append(descriptor)
      readers.append(reader)
    }
    try self.init(descriptors, tieOrder, readers)
  }

  private init(
    _ descriptors: [SortDescriptor<T>],
    _ tieOrder: SortOrder,
    _ readers: [(AnyObject) -> QueryValue]
  ) throws {
    self.descriptors = descriptors
    self.tieOrder = tieOrder
    self.readers = readers
    ordering = try RowOrdering(descriptors)
  }

  /// The same order, from the last model to the first.
  func reversed() throws -> PageSort {
    try PageSort(
      descriptors.map { descriptor in
        var reversed = descriptor
        reversed.order = descriptor.order.reversed
        return reversed
      },
      tieOrder.reversed,
      readers
    )
  }

  /// The current values of a model's sort keys.
  func values(of model: T) -> [QueryValue] { readers.map { $0(model) } }

  /// Compares the sort keys of two models; the sign is the order.
  func compare(_ lhs: [QueryValue], _ rhs: [QueryValue]) -> Int { Self.compare(lhs, rhs, rules) }

  private static func compare(_ lhs: [QueryValue], _ rhs: [QueryValue], _ rules: [SortRule]) -> Int
  {
    for (place, rule) in rules.enumerated() {
      let order = rule.compare(lhs[place], rhs[place])
      if order != 0 { return order }
    }
    return 0
  }

  private var rules: [SortRule] {
    position(values: ordering.keys.map { _ in .null }, .row(.none)).rules
  }

  /// Sorts a store's models that the store itself has not sorted.
  ///
  /// - Parameters:
  ///   - models: The models.
  ///   - byRow: Whether models with equal keys are in the order of their rows, or else of their identifiers.
  ///   - unsaved: The unsaved models in the order of their insertion: they come after all that have rows.
  ///   - values: Returns the sort keys of a model.
  /// - Returns: The models in order.
  /// - Throws: The error of `values`.
  func sorted(
    _ models: [T],
    byRow: Bool,
    unsaved: [any PersistentModel],
    by values: (T) throws -> [QueryValue]
  ) rethrows -> [T] {
    let rules = rules
    let keyed = try models.map { (model: $0, values: try values($0), row: $0.row) }
    var places: [ObjectIdentifier: Int] = [:]
    if keyed.count(where: { $0.row == nil }) > 1 {
      for (place, model) in unsaved.enumerated() { places[ObjectIdentifier(model)] = place }
    }
    func areTiesAscending(_ lhs: Int, _ rhs: Int) -> Bool {
      switch (keyed[lhs].row, keyed[rhs].row) {
      case (let left?, let right?):
        byRow
          ? left < right
          : keyed[lhs].model.persistentModelID < keyed[rhs].model.persistentModelID
      case (nil, nil):
        places[ObjectIdentifier(keyed[lhs].model)] ?? .max
          < places[ObjectIdentifier(keyed[rhs].model)] ?? .max
      case (_?, nil): true
      case (nil, _?): false
      }
    }
    let order = keyed.indices.sorted { lhs, rhs in
      let order = Self.compare(keyed[lhs].values, keyed[rhs].values, rules)
      if order != 0 { return order < 0 }
      return tieOrder == .forward ? areTiesAscending(lhs, rhs) : areTiesAscending(rhs, lhs)
    }
    return order.map { keyed[$0].model }
  }

  func position(values: [QueryValue], _ tie: PagePosition.Tie) -> PagePosition {
    PagePosition(ordering: ordering, values: values, tie: tie, tieOrder: tieOrder)
  }
}

extension PageSort: CustomStringConvertible {
  /// The entity and the keys, as in "Reading by at descending, serial".
  var description: String {
    let entity = ModelDescriptor.of(T.self).entityName
    let keys = names.enumerated().map { place, name in
      descriptors[place].order == .forward ? name : "\(name) descending"
    }
    return keys.isEmpty
      ? "\(entity) without sort keys" : "\(entity) by \(keys.joined(separator: ", "))"
  }

  private var names: [String] {
    ordering.keys.map { key in
      guard case .column(let path, let reading) = key.source else { return "self" }
      return path.name(followedBy: path.descriptor.properties[reading.column].name)
    }
  }

  /// A number that differs, almost certainly, for different orders: it covers the keys' names, directions and comparators.
  var fingerprint: UInt32 {
    var hash = FingerprintHash()
    for (place, name) in names.enumerated() {
      let key = ordering.keys[place]
      hash.combine("\(name) \(key.order == .forward) \(key.textOrder?.name ?? "")\0")
    }
    hash.combine("\(tieOrder == .forward)")
    return hash.value
  }
}

extension SortOrder {
  fileprivate var reversed: SortOrder { self == .forward ? .reverse : .forward }
}

/// The 32-bit hash of Fowler, Noll and Vo (FNV-1a): the same in every process.
///
/// For two texts that differ in a single byte it always differs.
struct FingerprintHash {
  private(set) var value: UInt32 = 0x811C_9DC5

  mutating func combine(_ text: String) { combine(text.utf8) }

  mutating func combine(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt32(byte)) &* 0x0100_0193 }
  }
}
