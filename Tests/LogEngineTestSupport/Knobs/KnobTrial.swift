import LogEngine
import LogTools
import RowFormat

/// One store under one set of knobs.
///
/// What is done is drawn from the seed alone, and never depends on the knobs.
struct KnobTrial {
  private let knobs: EngineOptions
  private let disk = InMemoryFileSystem()
  private var store: PhotoStore?
  private var random: SeededGenerator
  private var rows: PhotoLedger.Rows = [:]
  private var commitCount: UInt64 = 1
  private var views: [(view: ReadView, rows: PhotoLedger.Rows)] = []
  /// A number that stands for all answers.
  private(set) var transcript: UInt64 = 0

  init(seed: UInt64, _ knobs: EngineOptions) {
    self.knobs = knobs
    random = SeededGenerator(seed: seed).forked(99)
  }

  mutating func perform(_ step: Int) throws {
    if store == nil { store = try PhotoStore(on: disk, knobs) }
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<50: try commit(count: Int.random(in: 1...3, using: &random))
    case 50..<54: try commit(count: 20)
    case 54..<74:
      let count = Int.random(in: 1...12, using: &random)
      for _ in 0..<count { store?.engine.performBackgroundWork() }
    case 74..<78: try store?.engine.compact()
    case 78..<81: try stopCompaction(after: Int.random(in: 0...6, using: &random))
    case 81..<84: try store?.engine.checkpoint()
    case 84..<88:
      if let view = store?.engine.makeReadView() { views.append((view, rows)) }
      if views.count > 3 { views.removeFirst() }
    case 88..<91: views.removeAll()
    case 91..<94: try reopen { try $0.engine.close() }
    case 94..<97: try reopen { _ in }
    default: try store?.engine.synchronize()
    }
    try ask()
  }

  /// Compacts, and stops it on the way.
  private func stopCompaction(after count: Int) throws {
    var rest = count
    try store?.engine.compact { _ in
      rest -= 1
      return rest < 0 ? .stop : .proceed
    }
  }

  private mutating func reopen(_ end: (PhotoStore) throws -> Void) throws {
    try checkViews()
    views.removeAll()
    if let store { try end(store) }
    store = nil
    store = try PhotoStore(on: disk, knobs)
    guard store?.engine.lastCommit.rawValue == commitCount else {
      throw Mismatch("commit \(commitCount) is not the newest after opening")
    }
  }

  // MARK: Committing

  private mutating func commit(count: Int) throws {
    guard let store else { return }
    var changes: [PhotoStore.Change] = []
    var keys = rows.keys.sorted()
    keys.shuffle(using: &random)
    for _ in 0..<count {
      let key = keys.popLast()
      switch (Int.random(in: 0..<8, using: &random), key) {
      case (0...2, _), (_, nil):
        changes.append(.insert(store.newKey(), PhotoRow(title: makeTitle(), photo: makePhoto())))
        if let key { keys.append(key) }
      case (3, let key?): changes.append(.delete(key))
      case (4, let key?):
        let row = PhotoRow(title: makeTitle(), photo: makePhoto())
        changes.append(.replacePhoto(key, row))
      case (_, let key?):
        changes.append(.retitle(key, PhotoRow(title: makeTitle(), photo: rows[key]?.photo)))
      }
    }
    rows.apply(changes)
    commitCount += 1
    let sequence = try store.commit(changes)
    guard sequence.rawValue == commitCount else {
      throw Mismatch("commit \(commitCount) was given the number \(sequence)")
    }
  }

  private mutating func makeTitle() -> String {
    let word = String(random.next() >> 40, radix: 36)
    return random.oneIn(4) ? String(repeating: word, count: 60) : word
  }

  /// None, one that stays in its row, or one in a file of its own.
  private mutating func makePhoto() -> Photo? {
    if random.oneIn(3) { return nil }
    let limit = random.oneIn(2) ? 100 : 700
    return Photo(seed: random.next(), byteCount: Int.random(in: 1...limit, using: &random))
  }

  // MARK: Asking

  /// Asks the store about a few rows, and now and then about all.
  private mutating func ask() throws {
    guard let store else { return }
    note(UInt64(store.engine.rowCount(of: PhotoStore.table)))
    note(store.engine.lastCommit.rawValue)
    guard store.engine.rowCount(of: PhotoStore.table) == rows.count else {
      throw Mismatch("there are \(rows.count) rows, and it counts otherwise")
    }
    for _ in 0..<3 {
      let key = UInt64.random(in: 1...200, using: &random)
      let reference = store.reference(key)
      let title = try store.engine.withRow(reference) { row, _ in
        PhotoStore.layout.text(0, in: row)
      }
      let isThere = try store.engine.contains(reference)
      guard title == rows[key]?.title, isThere == (rows[key] != nil) else {
        throw Mismatch("row \(key) is \(title ?? "-"), not \(rows[key]?.title ?? "-")")
      }
      note(title?.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) } ?? 0)
    }
    if random.oneIn(8) {
      try store.check(rows)
      try checkViews()
    }
  }

  private mutating func note(_ answer: UInt64) { transcript = mixed(transcript ^ answer) }

  /// What a view sees must still be there.
  private func checkViews() throws {
    for (view, rows) in views { try store?.check(rows, in: view) }
  }

  // MARK: The end

  /// Compacts what is left, and looks at everything once more.
  mutating func finish() throws {
    try checkViews()
    views.removeAll()
    try store.map(compactAll)
    try checkCounters()
  }

  private func compactAll(_ store: PhotoStore) throws {
    try store.check(rows)
    if knobs.history == .everything { try checkHistory(store) }
    // What is packed may have been all that made rows of other packs live: those come next.
    var reports: [CompactionReport] = []
    while let report = try store.engine.compact(keeping: .nothing).report {
      reports.append(report)
      guard reports.count < 5 else {
        throw Mismatch("there is always something left to compact: \(reports)")
      }
    }
    // The search for files without an owner holds a view, and they go in the next round.
    store.settle()
    store.settle()
    try store.check(rows)
    try checkFiles(store)
    let damage = try store.engine.verify().problems.filter { $0.severity == .damage }
    guard damage.isEmpty else { throw Mismatch("verification says \(damage)") }
  }

  private func checkHistory(_ store: PhotoStore) throws {
    var count: UInt64 = 0
    try store.engine.forEachCommit { _ in
      count += 1
      return .proceed
    }
    guard count == commitCount else {
      throw Mismatch("the history has \(count) commits, not \(commitCount)")
    }
  }

  private func checkFiles(_ store: PhotoStore) throws {
    let usage = try store.engine.blobUsage()
    let expected = rows.external(above: store.threshold)
    guard usage.fileCount == expected.count, usage.byteCount == expected.byteCount else {
      throw Mismatch("there are \(usage), expected \(expected)")
    }
  }

  /// What is live and dead is counted from commit to commit; counting it anew must come to the same.
  private mutating func checkCounters() throws {
    let before = store?.engine.statistics()
    store = nil
    for name in try disk.list("/store/index") ?? [] { try disk.unlink("/store/index/\(name)") }
    store = try PhotoStore(on: disk, knobs)
    let after = store?.engine.statistics()
    try store?.check(rows)
    guard before?.packs == after?.packs, before?.tables == after?.tables else {
      throw Mismatch(
        "counted anew: \(String(describing: after?.packs)), \(String(describing: after?.tables)), "
          + "not \(String(describing: before?.packs)), \(String(describing: before?.tables))"
      )
    }
  }
}
