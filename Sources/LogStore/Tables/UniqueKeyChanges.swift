import ModelRuntime
import RowFormat

/// The unique keys that one commit gives to rows, and takes from them.
struct UniqueKeyChanges {
  /// A row that gets a key.
  struct Addition {
    let constraint: Int
    let hash: UInt32
    let row: RowReference
    /// The place of the key among the keys.
    let key: Range<Int>
  }

  private struct Loss: Hashable {
    let constraint: Int
    let row: RowReference
  }

  private(set) var additions: [Addition] = []
  /// Constraint and hash of each key that is given or taken: what two saves must not change at once.
  private(set) var names: [UInt64] = []
  /// The keys of the additions, end to end: none of them is an allocation of its own.
  private var keys: [UInt8] = []
  private var losses: [Loss] = []
  /// The key that the row of an update has before it.
  private var old: [UInt8] = []

  var isEmpty: Bool { names.isEmpty }

  mutating func removeAll() {
    additions.removeAll(keepingCapacity: true)
    names.removeAll(keepingCapacity: true)
    keys.removeAll(keepingCapacity: true)
    losses.removeAll(keepingCapacity: true)
  }

  /// Notes the key a row gets by being inserted.
  mutating func insert(
    _ row: RawSpan,
    _ reference: RowReference,
    _ constraint: Int,
    _ columns: [Int],
    _ layout: RowLayout
  ) {
    let start = keys.count
    guard ColumnKey.append(columns, of: row, layout, to: &keys) else { return }
    add(start..<keys.count, reference, constraint)
  }

  /// Notes the key a row loses by being deleted.
  mutating func remove(
    _ row: RawSpan,
    _ reference: RowReference,
    _ constraint: Int,
    _ columns: [Int],
    _ layout: RowLayout
  ) {
    old.removeAll(keepingCapacity: true)
    guard ColumnKey.append(columns, of: row, layout, to: &old) else { return }
    losses.append(Loss(constraint: constraint, row: reference))
    names.append(name(constraint, ColumnKey.hash(old[...])))
  }

  /// The key of an updated row before the update, to be passed to ``replace(_:by:_:_:_:_:)``.
  ///
  /// Taken again for each row, so that its memory is allocated once.
  struct FormerKey {
    fileprivate private(set) var bytes: [UInt8] = []
    fileprivate private(set) var isKey = false

    mutating func take(_ columns: [Int], of row: RawSpan, _ layout: RowLayout) {
      bytes.removeAll(keepingCapacity: true)
      isKey = ColumnKey.append(columns, of: row, layout, to: &bytes)
    }
  }

  /// Notes the key a row gets by being changed, and the one it loses; nothing, if they are the same.
  mutating func replace(
    _ old: FormerKey,
    by row: RawSpan,
    _ reference: RowReference,
    _ constraint: Int,
    _ columns: [Int],
    _ layout: RowLayout
  ) {
    let start = keys.count
    let hasKey = ColumnKey.append(columns, of: row, layout, to: &keys)
    if old.isKey, hasKey, keys[start...] == old.bytes[...] {
      keys.removeSubrange(start...)
      return
    }
    if old.isKey {
      losses.append(Loss(constraint: constraint, row: reference))
      names.append(name(constraint, ColumnKey.hash(old.bytes[...])))
    }
    if hasKey { add(start..<keys.count, reference, constraint) }
  }

  private mutating func add(_ key: Range<Int>, _ reference: RowReference, _ constraint: Int) {
    let hash = ColumnKey.hash(keys[key])
    additions.append(Addition(constraint: constraint, hash: hash, row: reference, key: key))
    names.append(name(constraint, hash))
  }

  private func name(_ constraint: Int, _ hash: UInt32) -> UInt64 {
    UInt64(constraint) << 32 | UInt64(hash)
  }
}

// MARK: Checking

extension UniqueKeyChanges {
  /// Finds rows that would have one key.
  ///
  /// - Parameter store: The store, in which no other save under way gives or takes a key of these.
  /// - Returns: The clashes; in each, the row that would get the key, and the one that has it or gets it earlier.
  /// - Throws: What reading a row throws, or making an index.
  func clashes(in store: TableStore) throws -> [RowClash] {
    let losing: Set<Loss> = losses.isEmpty ? [] : Set(losses)
    var clashes: [(position: Int, clash: RowClash)] = []
    for number in Set(additions.map(\.constraint)).sorted() {
      // Called again, should the index's file be damaged.
      clashes += try store.indexes.unique[number].withNewest(in: store) { content in
        guard case .unique(let stored) = content else { return [] }
        return try self.clashes(with: stored, of: number, losing: losing, in: store)
      }
    }
    return clashes.sorted { $0.position < $1.position }.map(\.clash)
  }

  /// Finds the clashes of one constraint, with the place of the addition of each.
  private func clashes(
    with stored: UniqueRows,
    of number: Int,
    losing: Set<Loss>,
    in store: TableStore
  ) throws -> [(position: Int, clash: RowClash)] {
    let constraint = store.indexes.constraints[number]
    var clashes: [(position: Int, clash: RowClash)] = []
    var scratch: [UInt8] = []
    var own = HashedRows()
    own.reserve(additions.count)
    for position in additions.indices where additions[position].constraint == number {
      let addition = additions[position]
      var holder: RowReference?
      try stored.forEach(addition.hash) { row in
        if row == addition.row || losing.contains(Loss(constraint: number, row: row)) {
          return true
        }
        scratch.removeAll(keepingCapacity: true)
        guard try store.appendKey(of: row, constraint.columns, to: &scratch),
          scratch[...] == keys[addition.key]
        else { return true }
        holder = row
        return false
      }
      own.forEach(addition.hash) { place in
        let other = additions[Int(place.rawValue) - 1]
        guard holder == nil, keys[other.key] == keys[addition.key] else { return true }
        holder = other.row
        return false
      }
      if let holder {
        let clash = RowClash(row: addition.row, holder: holder, constraint: constraint)
        clashes.append((position, clash))
      } else {
        own.insert(RowReference(rawValue: UInt64(position + 1)), addition.hash)
      }
    }
    return clashes
  }
}
