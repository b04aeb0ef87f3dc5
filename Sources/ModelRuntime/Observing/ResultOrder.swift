import Foundation
import RowFormat

/// The order of results: the sort keys of each, and its place among equals.
///
/// The keys are those by which the results are currently ordered, whatever changes the models have since: so a
/// model whose key has changed is still found in its place.
///
/// Not generic, because comparisons must not touch generic code: apps' models are classes this module is compiled
/// without, and generic code for them takes ten times as long.
struct ResultOrder {
  /// The number of a result's keys.
  typealias Slot = Int32

  /// For models of the class the order was made for.
  private let readers: [(AnyObject) -> QueryValue]
  private var columns: [SortColumn]
  /// The tie-breaker between equal keys.
  private var ties: [UInt64] = []
  private(set) var free: [Slot] = []

  /// Makes an order, or `nil` for a sort that needs more than a model's own attributes.
  init?<Element: PersistentModel>(_ sort: [SortDescriptor<Element>]) {
    guard let ordering = try? RowOrdering(sort) else { return nil }
    var readers: [(AnyObject) -> QueryValue] = []
    var columns: [SortColumn] = []
    for (key, descriptor) in zip(ordering.keys, sort) {
      guard case .column(let path, let reading) = key.source, path.steps.isEmpty,
        let keyPath = descriptor.keyPath, let reader = Self.reader(of: keyPath)
      else { return nil }
      readers.append(reader)
      columns.append(SortColumn(kind: reading.kind, order: key.order, textOrder: key.textOrder))
    }
    self.readers = readers
    self.columns = columns
  }

  /// Makes the order by an attribute, and rows with equal values by their ties; `nil` for one without an order.
  init?(by property: ModelProperty) {
    func reader<Model: PersistentModel>(for _: Model.Type) -> ((AnyObject) -> QueryValue)? {
      (property.keyPath as? PartialKeyPath<Model>).flatMap { Self.reader(of: $0) }
    }
    let (root, value) = (
      type(of: property.keyPath).rootType, type(of: property.keyPath).valueType
    )
    guard let scalar = queryScalar(TypeMetadata.unwrapped(value)), scalar.queryKind.isOrdered,
      let model = root as? any PersistentModel.Type, let reader = reader(for: model)
    else { return nil }
    readers = [reader]
    columns = [SortColumn(kind: scalar.queryKind, order: .forward)]
  }

  /// The reader of a sort key, for models of the key path's class.
  static func reader<Element: PersistentModel>(
    of keyPath: PartialKeyPath<Element>
  ) -> ((AnyObject) -> QueryValue)? {
    if let text = TextOrder.reader(of: keyPath) {
      return { unsafe text(unsafeDowncast($0, to: Element.self)).map(QueryValue.text) ?? .null }
    }
    let declared = type(of: keyPath).valueType
    let type = TypeMetadata.unwrapped(declared)
    return queryScalar(type).flatMap { reader(of: keyPath, $0) }
  }

  private static func reader<Element: PersistentModel, Value: QueryScalar>(
    of keyPath: PartialKeyPath<Element>,
    _: Value.Type
  ) -> ((AnyObject) -> QueryValue)? {
    if let keyPath = keyPath as? KeyPath<Element, Value> {
      return { unsafe unsafeDowncast($0, to: Element.self)[keyPath: keyPath].queryValue ?? .null }
    }
    if let keyPath = keyPath as? KeyPath<Element, Value?> {
      return { unsafe unsafeDowncast($0, to: Element.self)[keyPath: keyPath]?.queryValue ?? .null }
    }
    return nil
  }

  /// Takes the current sort keys of a model.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - tie: Its place among models with equal keys.
  /// - Returns: The number of the keys, which ``remove(_:)`` releases.
  mutating func add(_ model: AnyObject, tie: UInt64) -> Slot {
    guard let slot = free.popLast() else {
      for index in columns.indices { columns[index].append(readers[index](model)) }
      ties.append(tie)
      return Slot(ties.count - 1)
    }
    for index in columns.indices { columns[index].replace(Int(slot), with: readers[index](model)) }
    ties[Int(slot)] = tie
    return slot
  }

  /// Takes the sort keys of a place among the results.
  ///
  /// - Parameters:
  ///   - values: The first keys; the others are null.
  ///   - tie: The place among equals.
  /// - Returns: The number of the keys.
  mutating func add(_ values: [QueryValue], tie: UInt64) -> Slot {
    let slot = free.popLast()
    for index in columns.indices {
      let value = index < values.count ? values[index] : .null
      if let slot {
        columns[index].replace(Int(slot), with: value)
      } else {
        columns[index].append(value)
      }
    }
    guard let slot else {
      ties.append(tie)
      return Slot(ties.count - 1)
    }
    ties[Int(slot)] = tie
    return slot
  }

  mutating func remove(_ slot: Slot) { free.append(slot) }

  /// The direction of the first key.
  var firstOrder: SortOrder { columns.first?.isReversed == true ? .reverse : .forward }

  /// The kind of the first key's values.
  var firstKind: QueryKind? { columns.first?.kind }

  /// Compares the first keys of two results; the sign is the order.
  func compareFirstKeys(_ lhs: Slot, _ rhs: Slot) -> Int {
    columns.isEmpty ? 0 : columns[0].compare(Int(lhs), Int(rhs))
  }

  /// Compares two results; the sign is the order.
  func compare(_ lhs: Slot, _ rhs: Slot) -> Int {
    for index in columns.indices {
      let order = columns[index].compare(Int(lhs), Int(rhs))
      if order != 0 { return order }
    }
    let (lhs, rhs) = (ties[Int(lhs)], ties[Int(rhs)])
    return lhs < rhs ? -1 : lhs > rhs ? 1 : 0
  }
}

/// A result, with the number of its keys.
struct RankedResult {
  private let object: AnyObject
  let slot: ResultOrder.Slot

  init(_ model: some PersistentModel, slot: ResultOrder.Slot) {
    object = model
    self.slot = slot
  }

  var id: ObjectIdentifier { ObjectIdentifier(object) }

  /// The result with its type, which the caller knows from inserting it.
  @inline(__always)
  func model<Model: PersistentModel>(as _: Model.Type) -> Model {
    unsafe unsafeDowncast(object, to: Model.self)
  }
}

extension ResultTree where Element == RankedResult {
  /// Returns the number of results before a place.
  func rank(of slot: ResultOrder.Slot, in order: ResultOrder) -> Int {
    position { order.compare($0.slot, slot) < 0 }
  }

  /// The position of a model with certain keys, or `nil` if it is not in the list.
  func position(
    of model: AnyObject,
    _ slot: ResultOrder.Slot,
    in order: ResultOrder
  ) -> Int? {
    let position = rank(of: slot, in: order)
    return position < count && self[position].id == ObjectIdentifier(model) ? position : nil
  }

  /// Whether two lists have the same models in the same order.
  ///
  /// - Complexity: O(1) for two versions without a change in between, else O(*n*).
  func holdsSame(as other: ResultTree) -> Bool {
    if isSame(as: other) { return true }
    return count == other.count && zip(self, other).allSatisfy { $0.id == $1.id }
  }
}
