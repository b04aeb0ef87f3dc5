import RowFormat

/// Positions of the models that have, or once had, a value in a column.
///
/// Few models have the same value, mostly: the entries of such a value are chained. The first look-up of a value that many have
/// sorts their positions, so that later ones read only the positions that they want.
struct UnsavedValues {
  let column: Int
  private let read: (any PersistentModel) -> QueryValue
  /// Number of the class's positions that are listed.
  private var readCount = 0
  /// The last entry of each value, or -1.
  private var heads: [QueryValue: Int32] = [:]
  /// The entries, each with the previous entry of the same value, or -1.
  private var entries: [(position: Int32, previous: Int32)] = []
  /// The positions of values of many models, without those of their entries.
  private var groups: [QueryValue: PositionGroup] = [:]

  /// Maximum number of entries of a value that are put into order each time.
  private static let shortCount = 16

  init(_ property: ModelProperty) {
    column = property.ordinal
    read = property.makeReader()
  }

  /// Number of entries that were made.
  var count: Int { entries.count }

  mutating func removeAll() {
    heads = [:]
    entries = []
    groups = [:]
    readCount = 0
  }

  /// Lists the models added since the last time.
  mutating func update(_ positions: [Int32], of models: [any PersistentModel]) {
    if readCount == positions.count { return }
    list(positions[readCount...], of: models)
    readCount = positions.count
  }

  /// Lists models by their current values; deleted ones are listed when they come back.
  mutating func list(_ positions: some Sequence<Int32>, of models: [any PersistentModel]) {
    for position in positions {
      let model = models[Int(position)]
      // From now on its setters report their calls.
      model._$state.listByValue(at: position)
      if model._$state.isDeleted { continue }
      let entry = Int32(entries.count)
      let former = heads.updateValue(entry, forKey: read(model))
      entries.append((position, former ?? -1))
    }
  }

  /// Calls a closure with the positions of the models that have a value now, in ascending order, until it returns `false`.
  ///
  /// - Complexity: O(*m* log *m*) for *m* models that got the value since the last call, and O(*k*) for *k* calls of the closure.
  mutating func forEachPosition(
    of value: QueryValue,
    _ models: [any PersistentModel],
    _ body: (Int32) throws -> Bool
  ) rethrows {
    let recent = recentPositions(of: value)
    func hasValue(_ position: Int32) -> Bool {
      let model = models[Int(position)]
      return !model._$state.isDeleted && read(model) == value
    }
    if recent.count <= Self.shortCount, groups[value] == nil {
      for position in recent where hasValue(position) {
        if try !body(position) { return }
      }
      return
    }
    heads[value] = nil
    try groups[value, default: PositionGroup()].forEach(recent, where: hasValue, body)
  }

  /// The positions of the models that may have one of several values, in ascending order.
  func positions(of values: some Collection<QueryValue>) -> [Int32] {
    var found: [Int32] = []
    for value in values {
      if let group = groups[value] { found += group.positions }
      found += recentPositions(of: value)
    }
    if values.count > 1 || !groups.isEmpty { found.sortAndUnique() }
    return found
  }

  /// The positions of a value's entries, in ascending order.
  private func recentPositions(of value: QueryValue) -> [Int32] {
    var found: [Int32] = []
    var entry = heads[value] ?? -1
    while entry >= 0 {
      found.append(entries[Int(entry)].position)
      entry = entries[Int(entry)].previous
    }
    if found.count > 1 { found.sortAndUnique() }
    return found
  }
}

/// Positions of models that have, or once had, one value.
private struct PositionGroup {
  /// In ascending order, without duplicates.
  private var sorted: [Int32] = []
  /// The first ones no longer have the value.
  private var start = 0

  var positions: ArraySlice<Int32> { sorted[start...] }

  /// Adds positions, and calls a closure with those of models that have the value, in order, until it returns `false`.
  ///
  /// - Parameters:
  ///   - added: The positions to add, in ascending order.
  ///   - hasValue: Whether a model has the value now; one that gets it again is added again.
  ///   - body: The closure.
  mutating func forEach(
    _ added: [Int32],
    where hasValue: (Int32) -> Bool,
    _ body: (Int32) throws -> Bool
  ) rethrows {
    add(added)
    var staleCount = 0
    var index = start
    while index < sorted.count {
      let position = sorted[index]
      index += 1
      if hasValue(position) {
        if try !body(position) { break }
      } else if index == start + 1 {
        start = index
      } else {
        staleCount += 1
      }
    }
    // Each position is passed over a few times at most.
    if staleCount > 16, 2 * staleCount > index - start {
      sorted.removeSubrange(..<start)
      start = 0
      sorted.removeAll { !hasValue($0) }
    }
  }

  private mutating func add(_ added: [Int32]) {
    guard let first = added.first else { return }
    if let last = sorted.last, start < sorted.count, last >= first {
      sorted = Array(positions) + added
      sorted.sortAndUnique()
      start = 0
    } else {
      sorted += added
    }
  }
}

extension [Int32] {
  mutating func sortAndUnique() {
    sort()
    var distinct = 0
    for position in self where distinct == 0 || self[distinct - 1] != position {
      self[distinct] = position
      distinct += 1
    }
    removeSubrange(distinct...)
  }
}
