import Foundation
package import RowFormat

/// A value that rows are grouped by, hashed as in a `Set`, except that all NaNs are one.
package struct KeyValue: Hashable, Sendable {
  package let value: QueryValue

  package init(_ value: QueryValue) { self.value = value }

  package static func == (lhs: KeyValue, rhs: KeyValue) -> Bool {
    if case .double(let lhs) = lhs.value, case .double(let rhs) = rhs.value {
      return lhs == rhs || lhs.isNaN && rhs.isNaN
    }
    return lhs.value == rhs.value
  }

  package func hash(into hasher: inout Hasher) {
    if case .double(let value) = value, value.isNaN { return hasher.combine(0x7FF8) }
    value.hash(into: &hasher)
  }

  /// Whether a key comes before another in the list of groups: nil first, and NaN before all numbers.
  func precedes(_ other: KeyValue, as kind: QueryKind) -> Bool {
    switch (value, other.value) {
    case (.null, _): !other.value.isNull
    case (_, .null): false
    case (.double(let lhs), .double(let rhs)): lhs < rhs || lhs.isNaN && !rhs.isNaN
    case (.bool(let lhs), .bool(let rhs)): !lhs && rhs
    case (.bytes(let lhs), .bytes(let rhs)): lhs.lexicographicallyPrecedes(rhs)
    default: value.precedes(other.value, as: kind)
    }
  }
}

/// Groups of rows, and the measures of each.
package final class GroupTable {
  package let request: AggregateRequest
  /// The number of groups; if there are no keys, one holds everything.
  package private(set) var count = 0
  /// The keys of all groups, concatenated: `request.keys.count` for each group.
  private var keys: [KeyValue] = []
  package let accumulators: [Accumulator]
  private var index = GroupIndex()
  private let allowance: AggregateAllowance
  /// Memory of texts and bytes outside of the keys, in bytes.
  private var heapByteCount = 0
  private var uncheckedCount = 0

  package init(_ request: AggregateRequest, within allowance: AggregateAllowance = .unlimited) {
    self.request = request
    self.allowance = allowance
    accumulators = request.measures.map { .make($0) }
    // Nothing at all has a count and a sum, too.
    if request.keys.isEmpty { _ = append([]) }
  }

  /// The accumulator that answers a question, by the question's index.
  func accumulator(answering question: Int) -> Accumulator {
    accumulators[request.places[question]]
  }

  /// One of the keys of a group.
  func key(_ part: Int, of group: Int) -> KeyValue { keys[group * request.keys.count + part] }

  private func keys(of group: Int) -> ArraySlice<KeyValue> {
    keys[(group * request.keys.count)..<((group + 1) * request.keys.count)]
  }

  /// Returns the number of a key's group, which is added if there is none.
  package func findOrAppendGroup(of key: [KeyValue]) -> Int {
    if key.isEmpty { return 0 }
    // Appended groups are indexed only when a look-up first needs them.
    while index.count < count { index.append(GroupIndex.hash(of: keys(of: index.count))) }
    let hash = GroupIndex.hash(of: key[...])
    if let known = index.group(hash, where: { keys(of: $0).elementsEqual(key) }) { return known }
    index.append(hash)
    return append(key)
  }

  /// Adds a group whose key no other has.
  ///
  /// - Returns: Its number.
  package func append(_ key: [KeyValue]) -> Int {
    count += 1
    for part in key {
      keys.append(part)
      heapByteCount += part.heapByteCount
    }
    for accumulator in accumulators { accumulator.grow(to: count) }
    return count - 1
  }

  /// Adds a row by its values: those of the keys, not yet in buckets, then the measured ones.
  ///
  /// - Parameters:
  ///   - values: The values.
  ///   - row: The row, which orders rows whose values are equal to a measure; a row without one follows all rows that have one
  ///     and all rows added before.
  /// - Throws: ``SwiftDataError/aggregateTooLarge``.
  package func add(
    _ values: [QueryValue],
    of row: RowReference? = nil
  ) throws(SwiftDataError) {
    uncheckedCount += 1
    if uncheckedCount == 256 {
      uncheckedCount = 0
      try checkSize()
    }
    var key: [KeyValue] = []
    key.reserveCapacity(request.keys.count)
    for (index, part) in request.keys.enumerated() {
      key.append(KeyValue(part.bucket.map { $0.value(values[index]) } ?? values[index]))
    }
    let group = findOrAppendGroup(of: key)
    for (index, measure) in request.measures.enumerated() {
      guard let source = measure.value else {
        accumulators[index].add(.bool(true), to: group)
        continue
      }
      let value = values[source]
      if let order = measure.order {
        if values[order].isNull { continue }
        let place = row?.rawValue ?? .max
        accumulators[index].add(value, by: values[order], at: place, to: group)
      } else if !value.isNull {
        accumulators[index].add(value, to: group)
      }
    }
  }

  /// Bytes of one group for its key: in the list of keys and in the index, and what it takes to order the groups.
  package static func byteCount(ofKeyWith partCount: Int) -> Int {
    80 + partCount * MemoryLayout<KeyValue>.stride
  }

  /// Checks the memory of the groups against the limit.
  ///
  /// - Throws: ``SwiftDataError/aggregateTooLarge``.
  package func checkSize() throws(SwiftDataError) {
    let perKey = Self.byteCount(ofKeyWith: request.keys.count)
    let measured = accumulators.reduce(0) { $0 + $1.byteCount }
    try allowance.check(
      count * perKey + heapByteCount + measured,
      groupCount: count
    )
  }
}
