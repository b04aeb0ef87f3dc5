import LogEngine

/// A program that stores photos, made from a seed: replaces, retitles and deletes them, closes the store,
/// ends without a word, and holds views meanwhile.
package struct PhotoRun {
  /// Whether the store is compacted meanwhile.
  package enum Upkeep: Sendable { case none, compacting }

  let seed: UInt64
  let options: EngineOptions
  let ledger: PhotoLedger
  /// `nil` before the first step, and after a step that let go of the store.
  private(set) var store: PhotoStore?
  private let fileSystem: any FileSystem
  private let upkeep: Upkeep
  private var random: SeededGenerator
  private var views: [(view: ReadView, rows: PhotoLedger.Rows)] = []

  init(
    seed: UInt64,
    on fileSystem: any FileSystem,
    _ ledger: PhotoLedger,
    _ upkeep: Upkeep = .none
  ) {
    self.seed = seed
    self.upkeep = upkeep
    self.fileSystem = fileSystem
    self.ledger = ledger
    random = SeededGenerator(seed: seed).forked(11)
    var options = EngineOptions.random(using: &random)
    options.smallestSegment = 8192
    if upkeep == .compacting {
      options.largestSegment = 8192
      options.compactOften(using: &random)
    }
    self.options = options
  }

  /// Opens the store.
  mutating func open() throws {
    // The first opening makes the table, which is a commit.
    if ledger.states.count == 1 { ledger.issue([:]) }
    let opened = try PhotoStore(on: fileSystem, options)
    let newest = Int(opened.engine.lastCommit.rawValue)
    let allowed = max(ledger.promise.acknowledged, 1)...ledger.promise.issued
    guard allowed.contains(newest) else {
      throw Mismatch("commit \(newest) is the newest, \(allowed) are allowed")
    }
    ledger.adopt(newest)
    store = opened
    try opened.check(ledger.newest)
  }

  mutating func perform(_ step: Int) throws {
    ledger.begin(step: step)
    if store == nil { try open() }
    if upkeep == .compacting, random.oneIn(4) {
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1: try store?.engine.compact()
      case 2: try store?.engine.compact(keeping: .nothing)
      default: for _ in 0..<8 { store?.engine.performBackgroundWork() }
      }
      return
    }
    // Not in a constant: nothing else may hold the store when it is let go of.
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<60: try commit(makeChanges())
    case 60..<78: store?.engine.performBackgroundWork()
    case 78..<84: try store?.engine.checkpoint()
    case 84..<89:
      if let view = store?.engine.makeReadView() { views.append((view, ledger.newest)) }
      if views.count > 2 { views.removeFirst() }
    case 89..<92: views.removeAll()
    case 92..<96:
      try checkViews()
      try close()
      try open()
    default:
      abandon()
      try open()
    }
  }

  mutating func close() throws {
    views.removeAll()
    let closing = store
    store = nil
    try closing?.engine.close()
    ledger.synchronize()
  }

  /// Lets go of the store as a process does that ends.
  mutating func abandon() {
    views.removeAll()
    store = nil
  }

  /// What a view sees must still be there.
  func checkViews() throws {
    for (view, rows) in views { try store?.check(rows, in: view) }
  }

  mutating func commit(_ changes: [PhotoStore.Change]) throws {
    guard let store, !changes.isEmpty else { return }
    var rows = ledger.newest
    rows.apply(changes)
    ledger.issue(rows)
    let sequence = try store.commit(changes)
    ledger.acknowledge(isDurable: options.durability == .full)
    guard Int(sequence.rawValue) == ledger.acknowledged else {
      throw Mismatch("commit \(ledger.acknowledged) was given the number \(sequence)")
    }
  }

  private mutating func makeChanges() -> [PhotoStore.Change] {
    guard let store else { return [] }
    var keys = ledger.newest.keys.sorted()
    keys.shuffle(using: &random)
    var changes: [PhotoStore.Change] = []
    for _ in 0..<Int.random(in: 0...2, using: &random) where !keys.isEmpty {
      let key = keys.removeLast()
      guard var row = ledger.newest[key] else { continue }
      switch Int.random(in: 0..<4, using: &random) {
      case 0, 1:
        row.photo = makePhoto()
        changes.append(.replacePhoto(key, row))
      case 2:
        row.title = String(random.next(), radix: 36)
        changes.append(.retitle(key, row))
      default: changes.append(.delete(key))
      }
    }
    let inserts = ledger.newest.count > 6 ? 0 : Int.random(in: 0...2, using: &random)
    for _ in 0..<inserts {
      let row = PhotoRow(title: String(random.next(), radix: 36), photo: makePhoto())
      changes.append(.insert(store.newKey(), row))
    }
    return changes
  }

  /// None, one that stays in its row, or one of up to a few pages.
  private mutating func makePhoto() -> Photo? {
    if random.oneIn(6) { return nil }
    let limit = random.oneIn(3) ? 100 : random.oneIn(4) ? 9000 : 900
    return Photo(seed: random.next(), byteCount: Int.random(in: 1...limit, using: &random))
  }
}
