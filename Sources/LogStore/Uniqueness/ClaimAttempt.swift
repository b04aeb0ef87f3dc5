import RowFormat

/// One attempt of a save to enter its keys.
struct ClaimAttempt {
  /// What stands at a key.
  enum Finding {
    case free
    /// The row has the key already.
    case entered
    /// Another row has it; a clash is noted.
    case taken
    /// Another save is about to give the key to a row, or to take it from one.
    case underWay
  }

  struct Clash {
    let constraint: Int
    let row: RowReference
    let holder: RowReference
  }

  let changes: KeyChanges
  private(set) var clashes: [Clash] = []
  private let store: TableStore
  private let columns: [[Int]]
  /// How many additions were looked at, and which of them found their row entered by an earlier save.
  private var checked = 0
  private var entries: [KeyChanges.Addition] = []
  /// Rows that lose a key in the same save; made when the first of them is in the way.
  private var losing: Set<Losing>?
  /// Rows that get a key in the same save, by their addition.
  private var gaining: [Losing: Int]?
  private var scratch: [UInt8] = []

  private struct Losing: Hashable {
    let constraint: Int
    let row: RowReference
  }

  init(_ changes: KeyChanges, store: TableStore, columns: [[Int]]) {
    self.changes = changes
    self.store = store
    self.columns = columns
  }

  /// The additions that made an entry, to be taken back.
  var entered: [KeyChanges.Addition] { entries }

  mutating func begin() {
    clashes.removeAll()
    entries.removeAll(keepingCapacity: true)
    checked = 0
  }

  /// Finds out what stands at the key of an addition.
  ///
  /// - Parameters:
  ///   - position: The addition.
  ///   - holders: The rows of its hash.
  ///   - isUnderWay: Whether another save under way changes a row's key.
  /// - Returns: What was found; a clash is noted, and so is an entry that is to be made.
  /// - Throws: What reading a row throws.
  mutating func check(
    _ position: Int,
    _ holders: [RowReference],
    isUnderWay: (RowReference) -> Bool
  ) throws -> Finding {
    let addition = changes.additions[position]
    var finding = Finding.free
    for holder in holders {
      switch try check(addition, against: holder, isUnderWay) {
      case .free: continue
      case .underWay: return .underWay
      case .entered: finding = .entered
      case .taken:
        clashes.append(
          Clash(constraint: addition.constraint, row: addition.row, holder: holder)
        )
        return .taken
      }
    }
    if finding == .free { entries.append(addition) }
    return finding
  }

  mutating func note(_ position: Int) { checked = position + 1 }

  private mutating func check(
    _ addition: KeyChanges.Addition,
    against holder: RowReference,
    _ isUnderWay: (RowReference) -> Bool
  ) throws -> Finding {
    if holder == addition.row { return .entered }
    let name = Losing(constraint: addition.constraint, row: holder)
    if let other = position(ofGaining: name), other < checked {
      let key = changes.keys[changes.additions[other].key]
      return key == changes.keys[addition.key] ? .taken : .free
    }
    if isLosing(name) { return .free }
    if isUnderWay(holder) { return .underWay }
    return try hasKey(holder, addition) ? .taken : .free
  }

  private mutating func isLosing(_ name: Losing) -> Bool {
    if changes.removals.isEmpty { return false }
    let rows =
      losing
      ?? Set(changes.removals.map { Losing(constraint: $0.constraint, row: $0.row) })
    losing = rows
    return rows.contains(name)
  }

  private mutating func position(ofGaining name: Losing) -> Int? {
    let positions =
      gaining
      ?? Dictionary(
        changes.additions.enumerated().map {
          (Losing(constraint: $1.constraint, row: $1.row), $0)
        },
        uniquingKeysWith: { first, _ in first }
      )
    gaining = positions
    return positions[name]
  }

  /// Whether the newest version of a row has the key.
  private mutating func hasKey(
    _ row: RowReference,
    _ addition: KeyChanges.Addition
  ) throws -> Bool {
    scratch.removeAll(keepingCapacity: true)
    return try store.appendKey(of: row, columns[addition.constraint], to: &scratch)
      && scratch[...] == changes.keys[addition.key]
  }
}
