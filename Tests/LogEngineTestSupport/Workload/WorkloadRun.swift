package import LogEngine
import RowFormat

/// A workload under way: the store it writes to, and the ledger it keeps.
package struct WorkloadRun {
  package let workload: Workload
  package let fileSystem: any FileSystem
  package let ledger: Ledger
  /// `nil` before the first step, and after a step that let go of the store failed.
  package private(set) var store: TestedStore?
  /// A reader beside the writers, which outlives them.
  private var follower: TestedStore?
  private var random: SeededGenerator
  private var rows: RowMaker

  package static let path = "/store"

  package init(_ workload: Workload, on fileSystem: any FileSystem, ledger: Ledger) {
    self.workload = workload
    self.fileSystem = fileSystem
    self.ledger = ledger
    random = SeededGenerator(seed: workload.seed).forked(1)
    rows = RowMaker(random: SeededGenerator(seed: workload.seed).forked(2))
  }

  /// Opens the store and makes the tables that rows go into.
  package mutating func begin() throws {
    try open { $0.afterProcessEnd }
    if ledger.model.newest.tables.isEmpty {
      try change(catalogue: Workload.firstTables)
    }
  }

  /// Does one step.
  ///
  /// - Throws: ``StorageError`` where the engine does, with the step's commit issued and not
  ///   acknowledged; ``Mismatch`` if what the engine shows is not what it may.
  package mutating func perform(_ index: Int) throws {
    ledger.begin(step: index)
    if store == nil { try begin() }
    switch workload.steps[index] {
    case .commit(let mixture): try commit(makeChanges(mixture))
    case .changeCatalogue(let step): try change(catalogue: makeCatalogueChanges(step))
    case .checkpoint: try store?.checkpoint()
    case .compact:
      // A follower that reads on where segments were packed has to open the store anew.
      follower = nil
      try store?.compact()
    case .backgroundWork:
      if workload.options.compaction == .automatic { follower = nil }
      store?.performBackgroundWork()
    case .follow: try follow()
    case .synchronize:
      try store?.synchronize()
      ledger.update { $0.synchronize() }
    case .close:
      try close()
      try begin()
    case .abandon:
      abandon()
      try begin()
    }
  }

  // MARK: Opening and closing

  private mutating func open(_ allowed: (Promise) -> ClosedRange<Int>) throws {
    let opened = try TestedStore(opening: WorkloadRun.path, on: fileSystem, workload.options)
    let model = ledger.model
    let recovered = try opened.check(against: model.states, allowed: allowed(model.promise))
    ledger.update { $0.adopt(recovered, isDurable: true) }
    store = opened
  }

  package mutating func close() throws {
    let closing = store
    store = nil
    try closing?.close()
    ledger.update { $0.synchronize() }
  }

  /// Lets go of the store without a word, as a process that ends does.
  package mutating func abandon() { store = nil }

  // MARK: Following

  /// Has the follower catch up: beside a writer that does nothing it sees all that was committed.
  private mutating func follow() throws {
    if let follower {
      try follower.refresh()
    } else {
      var options = workload.options
      options.mode = .readOnly
      follower = try TestedStore(opening: WorkloadRun.path, on: fileSystem, options)
    }
    let model = ledger.model
    try follower?.check(against: model.states, allowed: model.promise.afterProcessEnd)
  }

  // MARK: Committing

  package mutating func commit(_ changes: [RowChange]) throws {
    guard let store, !changes.isEmpty else { return }
    var content = ledger.model.newest
    for change in changes { content.apply(change) }
    try issue(content) { try store.commit(changes) }
  }

  package mutating func change(catalogue changes: [CatalogueChange]) throws {
    guard let store, !changes.isEmpty else { return }
    var content = ledger.model.newest
    for change in changes { content.apply(change) }
    try issue(content) { try store.changeCatalogue(changes) }
  }

  private func issue(_ content: StoreContent, _ commit: () throws -> Int) throws {
    ledger.update { $0.issue(content) }
    let sequence = try commit()
    let isDurable = workload.options.durability == .full
    ledger.update { $0.acknowledge(isDurable: isDurable) }
    let issued = ledger.model.issued
    guard sequence == issued else {
      throw Mismatch("commit \(issued) was given the number \(sequence)")
    }
  }

  // MARK: Making changes

  private mutating func makeChanges(_ mixture: Workload.Mixture) throws -> [RowChange] {
    guard let store else { return [] }
    let content = ledger.model.newest
    guard let table = content.tables.filter({ !$0.layouts.isEmpty }).randomElement(using: &random)
    else { return [] }
    var references = content.references(in: table.number)
    references.shuffle(using: &random)
    var changes: [RowChange] = []
    for _ in 0..<min(mixture.updates, references.count) {
      let reference = references.removeLast()
      guard let old = content.rows[reference] else { continue }
      let new = rows.makeRow(changing: old, in: table, textByteCount: mixture.textByteCount)
      changes.append(.update(reference, changed: new.changed, new.row))
    }
    for _ in 0..<min(mixture.deletes, references.count) {
      changes.append(.delete(references.removeLast()))
    }
    if mixture.inserts > 0 {
      let first = store.reserveKeys(mixture.inserts, in: table.number)
      for key in first..<(first + UInt64(mixture.inserts)) {
        guard content.usedKeys[table.number]?.contains(key) != true else {
          throw Mismatch("key \(key) of table \(table.number) was given out twice")
        }
        let row = rows.makeRow(in: table, textByteCount: mixture.textByteCount)
        changes.append(.insert(RowReference(table: table.number, key: key), row))
      }
    }
    return changes.shuffled(using: &random)
  }

  private mutating func makeCatalogueChanges(_ step: Workload.CatalogueStep) -> [CatalogueChange] {
    let content = ledger.model.newest
    guard let table = content.tables.randomElement(using: &random) else { return [] }
    return content.makeChanges(step, of: table, using: &random)
  }
}

/// What the engine shows is not what it may show.
package struct Mismatch: Error, Sendable, CustomStringConvertible {
  package var description: String
  init(_ description: String) { self.description = description }
}
