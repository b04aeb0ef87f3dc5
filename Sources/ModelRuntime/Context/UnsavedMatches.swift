import Foundation
import RowFormat

/// The unsaved models that a fetch wants, or wants a part of, kept in order while the fetch is made again and again.
///
/// A store answers by what is stored, and the context adds the unsaved models that match. A loop with ten thousand of them, for
/// one step each, would test and sort all of them each time. So each is tested once, and again after its values have changed.
/// There is a list for each combination of the values that such fetches fix, as of one device's readings or of one day's tasks.
///
/// Invariant: after ``update(from:)``, and as long as it is current, the lists have the new and the affected models that pass the
/// question's test, and no others, each in the list of its values, in order.
final class UnsavedMatches {
  private let type: ModelDescriptor
  private let reading: FetchReading
  private let test: ModelTest?
  /// The readers of the values that tell the lists.
  private let readers: [(any PersistentModel) -> QueryValue]
  /// Whether the lists are in the order of the fetch.
  let isInOrderOfFetch: Bool
  @safe @exclusivity(unchecked) private var order: ResultOrder
  @safe @exclusivity(unchecked) private var lists: [ResultTree<RankedResult>] = []
  /// The positions of the lists.
  private var listsByValues: [[QueryValue]: Int] = [:]
  private var places: [ObjectIdentifier: Place] = [:]
  /// The number of models read of each of the context's lists by class.
  private var readCounts: [ObjectIdentifier: Int] = [:]
  /// The number of changed values that were taken into account.
  private var invalidationCount: Int
  private let departures: UnsavedDepartures

  /// The place of a model: its list, and its keys.
  private struct Place {
    let list: Int
    let slot: ResultOrder.Slot
  }

  /// Makes the lists for a fetch that reads no relationships; `nil` for one whose order cannot be kept.
  ///
  /// - Parameters:
  ///   - question: The lists.
  ///   - descriptor: The fetch.
  ///   - unsaved: The context's unsaved models.
  init?<T: PersistentModel>(
    _ question: UnsavedQuestion,
    _ descriptor: FetchDescriptor<T>,
    among unsaved: UnsavedModels
  ) {
    let type = ModelDescriptor.of(T.self)
    guard question.reading.isOfOwnAttributes else { return nil }
    switch question.order {
    case .ofFetch:
      guard let order = ResultOrder(descriptor.sortBy) else { return nil }
      self.order = order
      isInOrderOfFetch = true
    case .by(let column):
      guard let order = ResultOrder(by: type.properties[column]) else { return nil }
      self.order = order
      isInOrderOfFetch = false
    }
    self.type = type
    reading = question.reading
    readers = question.fixedColumns.map { type.properties[$0].makeReader() }
    test = question.test.map { ModelTest($0, of: type) }
    unsaved.keepInvalidations()
    invalidationCount = unsaved.invalidations.count
    departures = unsaved.departures
  }

  /// Whether no model has left the context's lists since the list was made: their positions hold.
  func isCurrent(among unsaved: UnsavedModels) -> Bool { departures == unsaved.departures }

  /// A part of a list.
  struct Part {
    fileprivate let matches: UnsavedMatches
    fileprivate let list: Int
    fileprivate let range: Range<Int>
  }

  /// Finds the models that have some values, within bounds on the key, or behind a position.
  ///
  /// - Complexity: O(log *n*).
  func part(having values: [QueryValue], within bounds: KeyBounds) -> Part {
    guard let list = listsByValues[values] else {
      return Part(matches: self, list: 0, range: 0..<0)
    }
    return Part(matches: self, list: list, range: range(within: bounds, of: lists[list]))
  }

  private func range(within bounds: KeyBounds, of list: ResultTree<RankedResult>) -> Range<Int> {
    if bounds.numbers.contains(where: \.isOfNothing) { return 0..<0 }
    var (start, end): (Int?, Int?)
    for bound in bounds.numbers {
      if bound.isEnd(in: order.firstOrder) {
        let place = position(of: bound.value, isBehindEqual: bound.includesEqual, in: list)
        end = min(end ?? place, place)
      } else {
        let place = position(of: bound.value, isBehindEqual: !bound.includesEqual, in: list)
        start = max(start ?? place, place)
      }
    }
    if !bounds.numbers.isEmpty {
      // A number is within the bounds, so what is none is not.
      start = start ?? firstNumber(in: list)
      end = end ?? numberEnd(in: list)
    }
    if let position = bounds.position, let tie = position.listTie {
      let slot = order.add(position.values, tie: tie)
      start = max(start ?? 0, list.position { order.compare($0.slot, slot) <= 0 })
      order.remove(slot)
    }
    let first = start ?? 0
    return first..<max(first, end ?? list.count)
  }

  /// The position of the first key that has a place on a scale: in ascending order, null is before all numbers, and behind them is
  /// what is not a number.
  private func firstNumber(in list: ResultTree<RankedResult>) -> Int {
    if order.firstOrder == .forward { return position(of: .null, isBehindEqual: true, in: list) }
    return order.firstKind == .integer
      ? 0 : position(of: .double(.nan), isBehindEqual: true, in: list)
  }

  /// The position behind the last such key.
  private func numberEnd(in list: ResultTree<RankedResult>) -> Int {
    if order.firstOrder == .reverse { return position(of: .null, isBehindEqual: false, in: list) }
    return order.firstKind == .integer
      ? list.count : position(of: .double(.nan), isBehindEqual: false, in: list)
  }

  /// The number of models of a list that come before one in the order of the fetch.
  fileprivate func position(of model: any PersistentModel, inList list: Int) -> Int {
    let slot = order.add(model, tie: model._$state.tie)
    defer { order.remove(slot) }
    return lists[list].rank(of: slot, in: order)
  }

  fileprivate func models<T: PersistentModel>(
    from start: Int,
    _ count: Int,
    inList list: Int
  ) -> [T] {
    lists[list].elements(from: start).prefix(count).map { $0.model(as: T.self) }
  }

  /// The number of models before a value of the first key, or up to it.
  private func position(
    of value: QueryValue,
    isBehindEqual: Bool,
    in list: ResultTree<RankedResult>
  ) -> Int {
    let slot = order.add([value], tie: 0)
    defer { order.remove(slot) }
    return list.position { result in
      let comparison = order.compareFirstKeys(result.slot, slot)
      return comparison < 0 || isBehindEqual && comparison == 0
    }
  }

  /// Tests the models that have become unsaved, or have other values, since the last time.
  ///
  /// - Throws: An error of evaluating the predicate; the list is no longer valid then.
  /// - Complexity: O(*k* log *n*) for *k* such models.
  func update(from context: ModelContext) throws {
    let unsaved = context.unsaved
    var added: [Addition] = []
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
    insert(added)
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
    if let former = places.removeValue(forKey: ObjectIdentifier(model)) {
      if let position = lists[former.list].position(of: model, former.slot, in: order) {
        lists[former.list].remove(at: position)
      }
      order.remove(former.slot)
    }
    var added: [Addition] = []
    try add(model, to: &added)
    insert(added)
  }

  /// A model that is to be put into a list.
  private struct Addition {
    let list: Int
    let result: RankedResult
  }

  /// Gives a model that is in no list a place, if it is wanted.
  private func add(_ model: any PersistentModel, to added: inout [Addition]) throws {
    guard try isWanted(model) else { return }
    let list = makeList(for: readers.map { $0(model) })
    let slot = order.add(model, tie: model._$state.tie)
    places[ObjectIdentifier(model)] = Place(list: list, slot: slot)
    added.append(Addition(list: list, result: RankedResult(model, slot: slot)))
  }

  private func makeList(for values: [QueryValue]) -> Int {
    if let known = listsByValues[values] { return known }
    lists.append(ResultTree())
    listsByValues[values] = lists.count - 1
    return lists.count - 1
  }

  private func insert(_ added: [Addition]) {
    if added.count <= 1 {
      for addition in added { insert(addition.result, into: addition.list) }
      return
    }
    let ordered = added.sorted {
      $0.list != $1.list
        ? $0.list < $1.list : order.compare($0.result.slot, $1.result.slot) < 0
    }
    var rest = ordered[...]
    while let list = rest.first?.list {
      let own = rest.prefix { $0.list == list }
      rest = rest.dropFirst(own.count)
      if lists[list].isEmpty {
        lists[list] = ResultTree(own.map(\.result))
      } else {
        for addition in own { insert(addition.result, into: list) }
      }
    }
  }

  private func insert(_ result: RankedResult, into list: Int) {
    let position = lists[list].rank(of: result.slot, in: order)
    lists[list].insert(result, at: position)
  }

  private func isWanted(_ model: any PersistentModel) throws -> Bool {
    let state = model._$state
    // A model whose row others have deleted waits for a save to report it.
    if state.isDeleted || state.flags.contains(.vanished) { return false }
    guard state.flags.contains(.inserted) || reading.isAffected(by: state) else { return false }
    return try test?.matches(model) ?? true
  }
}

extension UnsavedMatches.Part {
  var count: Int { range.count }

  /// Whether the models are in the order of the fetch.
  var isInOrderOfFetch: Bool { matches.isInOrderOfFetch }

  /// The number of models of the part that come before one in the order of the fetch.
  func count(before model: any PersistentModel) -> Int {
    if range.isEmpty { return 0 }
    let position = matches.position(of: model, inList: list)
    return min(max(position, range.lowerBound), range.upperBound) - range.lowerBound
  }

  /// The models at some positions in the part, in order.
  ///
  /// - Complexity: O(log *n*) to begin, and O(1) for each model.
  func models<T: PersistentModel>(at positions: Range<Int>, as _: T.Type) -> [T] {
    if positions.isEmpty { return [] }
    return matches.models(
      from: range.lowerBound + positions.lowerBound,
      positions.count,
      inList: list
    )
  }

  /// All its models, in the order of their rows; new models come last, in the order of their insertion.
  func modelsByRow<T: PersistentModel>() -> [T] {
    models(at: 0..<count, as: T.self).map { (tie: $0._$state.tie, model: $0) }
      .sorted { $0.tie < $1.tie }.map(\.model)
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
