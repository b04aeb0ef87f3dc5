import Foundation
import RowFormat

/// Where results belong among each other: the sort keys of each, and its place among equals.
///
/// The keys are those the results are ordered by now, whatever has become of the models meanwhile: so a
/// model whose key has changed is still found where it is.
///
/// Not generic, as what a comparison touches must not be: apps' models are classes this module is compiled
/// without, and generic code for them takes ten times as long.
struct ResultOrder {
  /// The number of a result's keys.
  typealias Slot = Int32

  /// For models of the class the order was made for.
  private let readers: [(AnyObject) -> QueryValue]
  private var columns: [SortColumn]
  /// What decides between equal keys.
  private var ties: [UInt64] = []
  private(set) var free: [Slot] = []

  /// Makes an order, or `nil` for a sort that cannot be told from one model's own attributes.
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

  /// The reader of a sort key, for models of the key path's class.
  static func reader<Element: PersistentModel>(
    of keyPath: PartialKeyPath<Element>
  ) -> ((AnyObject) -> QueryValue)? {
    if let text = TextOrder.reader(of: keyPath) {
      return { unsafe text(unsafeDowncast($0, to: Element.self)).map(QueryValue.text) ?? .null }
    }
    let declared = type(of: keyPath).valueType
    let type = (declared as? any OptionalType.Type)?.wrappedType ?? declared
    return (type as? any QueryScalar.Type).flatMap { reader(of: keyPath, $0) }
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

  /// Takes the keys that a model has now.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - tie: Its place among models with equal keys.
  /// - Returns: The number of the keys, which ``remove(_:)`` gives back.
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

  mutating func remove(_ slot: Slot) { free.append(slot) }

  /// How two results compare: by sign.
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

  /// The result with its type, which the caller knows because it put the result in.
  @inline(__always)
  func model<Model: PersistentModel>(as _: Model.Type) -> Model {
    unsafe unsafeDowncast(object, to: Model.self)
  }
}

extension ResultTree where Element == RankedResult {
  /// How many results come before a place.
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

  /// Whether two lists hold the same models in the same order.
  ///
  /// - Complexity: O(1) for two versions without a change in between, else O(*n*).
  func holdsSame(as other: ResultTree) -> Bool {
    if isSame(as: other) { return true }
    return count == other.count && zip(self, other).allSatisfy { $0.id == $1.id }
  }
}
