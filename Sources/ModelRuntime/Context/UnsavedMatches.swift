import Foundation
import RowFormat

/// The unsaved models that a fetch wants, or wants a part of, kept in order while the fetch is made again and again.
///
/// A store answers by what is stored, and the context adds the unsaved models that match. A loop with ten thousand of them, for
/// one step each, would test and sort all of them each time. So each is tested once, and again after its values have changed.
///
/// Invariant: after ``update(from:)``, and as long as it is current, the list has the new and the affected models that pass the
/// question's test, and no others, in order.
final class UnsavedMatches {
  private let type: ModelDescriptor
  private let reading: FetchReading
  private let test: ModelTest?
  /// Whether the list is in the order of the fetch.
  let isInOrderOfFetch: Bool
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
  ///   - question: The list.
  ///   - descriptor: The fetch.
  ///   - unsaved: The context's unsaved models.
  init?<T: PersistentModel>(
    _ question: UnsavedQuestion,
    _ descriptor: FetchDescriptor<T>,
    among unsaved: UnsavedModels
  ) {
    let type = ModelDescriptor.of(T.self)
    guard question.reading.isOfOwnAttributes,
      let order = question.column.map({ ResultOrder(by: type.properties[$0]) })
        ?? ResultOrder(descriptor.sortBy)
    else { return nil }
    self.type = type
    reading = question.reading
    self.order = order
    isInOrderOfFetch = question.column == nil
    test = question.test.map { ModelTest($0, of: type) }
    unsaved.keepInvalidations()
    invalidationCount = unsaved.invalidations.count
    departures = unsaved.departures
  }

  /// Whether no model has left the context's lists since the list was made: their positions hold.
  func isCurrent(among unsaved: UnsavedModels) -> Bool { departures == unsaved.departures }

  /// Finds the models within bounds on the key, or behind a position.
  ///
  /// - Returns: Their positions in the list.
  /// - Complexity: O(log *n*).
  func range(within bounds: KeyBounds) -> Range<Int> {
    var (start, end) = (0, tree.count)
    if !bounds.numbers.isEmpty {
      if bounds.numbers.contains(where: \.isOfNothing) { return 0..<0 }
      (start, end) = (numbers.lowerBound, numbers.upperBound)
      for bound in bounds.numbers {
        if bound.isEnd(in: order.firstOrder) {
          end = min(end, position(of: bound.value, isBehindEqual: bound.includesEqual))
        } else {
          start = max(start, position(of: bound.value, isBehindEqual: !bound.includesEqual))
        }
      }
    }
    if let position = bounds.position, let tie = position.listTie {
      let slot = order.add(position.values, tie: tie)
      start = max(start, tree.position { order.compare($0.slot, slot) <= 0 })
      order.remove(slot)
    }
    return start..<max(start, end)
  }

  /// The models whose first key has a place on a scale: in ascending order, they are behind null, and before what is not a number.
  private var numbers: Range<Int> {
    let isForward = order.firstOrder == .forward
    let nullEnd = position(of: .null, isBehindEqual: isForward)
    if order.firstKind == .integer { return isForward ? nullEnd..<tree.count : 0..<nullEnd }
    let otherEnd = position(of: .double(.nan), isBehindEqual: !isForward)
    return isForward ? nullEnd..<otherEnd : otherEnd..<nullEnd
  }

  /// The number of models before a value of the first key, or up to it.
  private func position(of value: QueryValue, isBehindEqual: Bool) -> Int {
    let slot = order.add([value], tie: 0)
    defer { order.remove(slot) }
    return tree.position { result in
      let comparison = order.compareFirstKeys(result.slot, slot)
      return comparison < 0 || isBehindEqual && comparison == 0
    }
  }

  /// The number of models that come before one in the order of the fetch.
  func position(of model: any PersistentModel) -> Int {
    let slot = order.add(model, tie: model._$state.tie)
    defer { order.remove(slot) }
    return tree.rank(of: slot, in: order)
  }

  /// The models at some positions, in order.
  ///
  /// - Complexity: O(log *n*) to begin, and O(1) for each model.
  func models<T: PersistentModel>(at range: Range<Int>, as _: T.Type) -> some Sequence<T> {
    tree.elements(from: range.lowerBound).prefix(range.count).lazy.map { $0.model(as: T.self) }
  }

  /// The models at some positions, in the order of their rows; new models come last, in the order of their insertion.
  func modelsByRow<T: PersistentModel>(at range: Range<Int>) -> [T] {
    models(at: range, as: T.self).map { (tie: $0._$state.tie, model: $0) }
      .sorted { $0.tie < $1.tie }.map(\.model)
  }

  /// Tests the models that have become unsaved, or have other values, since the last time.
  ///
  /// - Throws: An error of evaluating the predicate; the list is no longer valid then.
  /// - Complexity: O(*k* log *n*) for *k* such models.
  func update(from context: ModelContext) throws {
    let unsaved = context.unsaved
    var added: [RankedResult] = []
    for (list, models) in [
      (unsaved.changed, context.changed), (unsaved.inserted, context.inserted),
    ] {
      for unsavedClass in list.classes(below: type) {
        let readCount = readCounts[ObjectIdentifier(unsavedClass)] ?? 0
        for position in unsavedClass.positions[readCount...] {
          models[Int(position)]._$state.listByValue(at: position)
          try add(models[Int(position)], to: &added)
        }
        readCounts[ObjectIdentifier(unsavedClass)] = unsavedClass.positions.count
      }
    }
    insert(&added)
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
    var added: [RankedResult] = []
    try add(model, to: &added)
    insert(&added)
  }

  /// Adds a model that is not in the list, if it is wanted.
  private func add(_ model: any PersistentModel, to added: inout [RankedResult]) throws {
    guard try isWanted(model) else { return }
    let slot = order.add(model, tie: model._$state.tie)
    slots[ObjectIdentifier(model)] = slot
    added.append(RankedResult(model, slot: slot))
  }

  private func insert(_ added: inout [RankedResult]) {
    if tree.isEmpty {
      added.sort { order.compare($0.slot, $1.slot) < 0 }
      tree = ResultTree(added)
    } else {
      for result in added { tree.insert(result, at: tree.rank(of: result.slot, in: order)) }
    }
  }

  private func isWanted(_ model: any PersistentModel) throws -> Bool {
    let state = model._$state
    // A model whose row others have deleted waits for a save to report it.
    if state.isDeleted || state.flags.contains(.vanished) { return false }
    guard state.flags.contains(.inserted) || reading.isAffected(by: state) else { return false }
    return try test?.matches(model) ?? true
  }
}

extension PagePosition {
  /// The place of the last model before the position among those with equal sort keys.
  fileprivate var listTie: UInt64? {
    switch tie {
    case .row(let row): row.rawValue
    case .unsaved(let notBehind): 1 << 63 | UInt64(notBehind.count - 1)
    case .identifier: nil
    }
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
