import Foundation
import RowFormat

/// The unsaved models that match a fetch, kept in its order while the fetch is made again and again.
///
/// A store answers by what is stored, and the context adds the unsaved models that match. A loop with ten thousand of them, for
/// one step each, would test and sort all of them each time. So each is tested once, and again after its values have changed.
///
/// Invariant: after ``update(from:)``, and as long as it is current, the list has the new and the affected models that match, and no others, in the order of the
/// fetch.
final class UnsavedMatches {
  private let type: ModelDescriptor
  private let reading: FetchReading
  private let test: ModelTest?
  /// Whether the reader of the list has to test its models by the whole predicate.
  let isWide: Bool
  private var order: ResultOrder
  private var tree = ResultTree<RankedResult>()
  private var slots: [ObjectIdentifier: ResultOrder.Slot] = [:]
  /// The number of models read of each of the context's lists by class.
  private var readCounts: [ObjectIdentifier: Int] = [:]
  /// The number of changed values that were taken into account.
  private var invalidationCount: Int
  private let departures: UnsavedDepartures

  /// Makes a list for a fetch that reads no relationships; `nil` for one whose order cannot be kept.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - expression: Its translated predicate.
  ///   - isOfFirstRows: Whether only the first models in the order are wanted. The list then ignores a bound on the first sort
  ///     key: if it is the current time, it differs from one fetch to the next.
  ///   - unsaved: The context's unsaved models.
  init?<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ expression: QueryExpression?,
    ofFirstRows isOfFirstRows: Bool,
    among unsaved: UnsavedModels
  ) {
    guard let order = ResultOrder(descriptor.sortBy) else { return nil }
    var reading = FetchReading(of: T.self)
    if let expression { reading.add(expression) }
    reading.add(descriptor.sortBy)
    guard reading.isOfOwnAttributes else { return nil }
    let key = isOfFirstRows ? (try? RowOrdering(descriptor.sortBy))?.keys.first : nil
    let kept = expression?.withoutEnd(of: key)
    type = .of(T.self)
    self.reading = reading
    self.order = order
    test = kept.map { ModelTest($0, of: .of(T.self)) }
    isWide = expression.map { kept?.asksTheSame(as: $0) != true } ?? false
    unsaved.keepInvalidations()
    invalidationCount = unsaved.invalidations.count
    departures = unsaved.departures
  }

  /// Number of models of the list.
  var count: Int { tree.count }

  /// Whether no model has left the context's lists since the list was made: their positions hold.
  func isCurrent(among unsaved: UnsavedModels) -> Bool { departures == unsaved.departures }

  /// The models, in the order of the fetch.
  ///
  /// - Complexity: O(log *n*) to begin, and O(1) for each model.
  func models<T: PersistentModel>(as _: T.Type) -> some Sequence<T> {
    tree.lazy.map { $0.model(as: T.self) }
  }

  /// Tests the models that have become unsaved, or have other values, since the last time.
  ///
  /// - Throws: An error of evaluating the predicate; the list is no longer valid then.
  /// - Complexity: O(*k* log *n*) for *k* such models.
  func update(from context: ModelContext) throws {
    let unsaved = context.unsaved
    for (list, models) in [
      (unsaved.changed, context.changed), (unsaved.inserted, context.inserted),
    ] {
      for unsavedClass in list.classes(below: type) {
        let readCount = readCounts[ObjectIdentifier(unsavedClass)] ?? 0
        for position in unsavedClass.positions[readCount...] {
          models[Int(position)]._$state.listByValue(at: position)
          try place(models[Int(position)])
        }
        readCounts[ObjectIdentifier(unsavedClass)] = unsavedClass.positions.count
      }
    }
    // Testing a model may read its row, which is reported as well.
    while invalidationCount < unsaved.invalidations.count {
      let state = unsaved.invalidations[invalidationCount]
      invalidationCount += 1
      guard state.context === context, let model = state.model, state.descriptor.isKind(of: type)
      else { continue }
      state.listByValue(at: state.unsavedPosition)
      try place(model)
    }
  }

  /// Puts a model into its current place, or removes it.
  private func place(_ model: any PersistentModel) throws {
    let id = ObjectIdentifier(model)
    if let former = slots.removeValue(forKey: id) {
      if let position = tree.position(of: model, former, in: order) { tree.remove(at: position) }
      order.remove(former)
    }
    guard try isWanted(model) else { return }
    let slot = order.add(model, tie: model._$state.tie)
    slots[id] = slot
    tree.insert(RankedResult(model, slot: slot), at: tree.rank(of: slot, in: order))
  }

  private func isWanted(_ model: any PersistentModel) throws -> Bool {
    let state = model._$state
    // A model whose row others have deleted waits for a save to report it.
    if state.isDeleted || state.flags.contains(.vanished) { return false }
    guard state.flags.contains(.inserted) || reading.isAffected(by: state) else { return false }
    return try test?.matches(model) ?? true
  }
}

extension _ModelState {
  /// The place of a model among those with equal sort keys: rows in the store's order, then new models in that of their insertion.
  fileprivate var tie: UInt64 {
    flags.contains(.inserted) ? 1 << 63 | UInt64(unsavedPosition) : reference.rawValue
  }

  /// Makes setters report changes of a model that is indexed by its values.
  func listByValue(at position: Int32) {
    unsavedPosition = position
    isListedByValue = true
    isObserved = true
  }
}

extension FetchReading {
  /// Whether a changed model may be found by values that it no longer has.
  func isAffected(by state: _ModelState) -> Bool {
    isAffected(byAnyOf: state.changed.marks, of: state.descriptor)
  }
}
