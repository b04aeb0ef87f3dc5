import Locking
import LogEngine
import ModelRuntime
import RowFormat
import SchedulePoints
import Synchronization

/// An index that is made the first time it is needed, and kept in step by every commit from then on.
///
/// It is made of the file that an earlier process left of it and of what was committed since, or else by one scan.
///
/// The index meets the commits that are made beside its scan, and beside its readers, in three steps:
///
/// 1. *Register.* From here on commits find the index in ``StoreIndexes`` when they are prepared. One that was
///    prepared earlier and is not numbered yet has to be prepared again, because the registration is counted;
///    one that was numbered earlier is visible to the scan, which waits for it.
/// 2. *Scan* a view of the store at some commit *c*; or read its file, and from the log what was committed up to *c*.
/// 3. *Replay* what was committed after *c*: each commit posts its changes when it gets its number, so that they
///    come in the order of the commits; those up to *c* are left out.
///
/// A change has the key of the row before the commit, as the batch found it in the row it replaced, which
/// the engine checks in the same step that numbers the commit. So the entries are at each commit exactly those of the
/// rows as of that commit. A reader of an earlier one undoes what was committed since in a copy of its own.
final class LazyIndex: Sendable {
  let definition: IndexDefinition
  /// The column numbers that matter, and the tables.
  let columns: ColumnSet
  let tables: [UInt16]

  /// The commits that are not taken in yet.
  private let inbox = Lock<[Commit]>([], .indexInbox)
  private let state = Lock<State>(State(), .indexContent)
  /// Whether commits have to be posted.
  private let registration = Atomic<Bool>(false)
  /// The commit as of which the index was made; zero while commits are not posted, or the index is being made.
  private let madeAt = Atomic<UInt64>(0)
  /// The last commit that was posted.
  private let posted = Atomic<UInt64>(0)

  struct Commit: Sendable {
    let sequence: UInt64
    let changes: [IndexChange]
  }

  private struct State {
    var content: IndexContent?
    /// The commit that the scan saw: nothing earlier can be undone.
    var base: UInt64 = 0
    /// The last commit that is taken in.
    var applied: UInt64 = 0
    /// The last commit up to which all that matter are taken in, or were posted.
    var known: UInt64 = 0
    /// Changes that were taken in and may have to be undone, oldest first.
    private(set) var recent: [Commit] = []
    /// Number of changes in ``recent``.
    private var recentCount = 0
    /// The commit as of which the entries were last written to a file, by this process.
    var written: UInt64?
    /// Whether the index's file was damaged, so that it is not looked at again.
    var ignoresFile = false

    /// The number of changes that are kept at the most, whatever readers may ask for: a view may be held for days.
    private static let mostRecent = 1 << 16

    /// Remembers a commit that was taken in.
    mutating func remember(_ commit: Commit) {
      recent.append(commit)
      recentCount += commit.changes.count
    }

    /// Forgets the changes that no reader asks for, and the oldest of those that are too many: readers of earlier commits
    /// then do without the index.
    mutating func forgetRecent(through oldest: UInt64) {
      // Half of them at once: the others move.
      let limit = recentCount > Self.mostRecent ? Self.mostRecent / 2 : Self.mostRecent
      var end = 0
      while end < recent.count, recent[end].sequence <= oldest || recentCount > limit {
        if recent[end].sequence > oldest { base = max(base, recent[end].sequence) }
        recentCount -= recent[end].changes.count
        end += 1
      }
      if end > 0 { recent.removeFirst(end) }
    }

    /// Forgets all changes: what was before a commit can no longer be undone.
    mutating func begin(at sequence: UInt64) {
      base = sequence
      (recent, recentCount) = ([], 0)
    }

    /// Forgets the entries, whose file is damaged.
    mutating func forget(_ damage: DamagedIndexFile?, in store: some IndexedStore) {
      if let damage { store.reportDamage(damage.cause) }
      content = nil
      ignoresFile = true
    }
  }

  init(_ definition: IndexDefinition) {
    self.definition = definition
    columns = definition.columns
    tables = definition.tables
  }

  /// Whether commits have to post their changes.
  var isRegistered: Bool { registration.load(ordering: .acquiring) }

  /// The newest commit of this process that changed an entry, or may have; `nil` if that is not known.
  ///
  /// A commit counts before it is visible.
  var newestChange: UInt64? {
    let made = madeAt.load(ordering: .acquiring)
    let posted = posted.load(ordering: .acquiring)
    guard made != 0, madeAt.load(ordering: .acquiring) == made else { return nil }
    return max(made, posted)
  }

  /// Takes the changes of a commit that has just been given its number.
  ///
  /// In the order of the commits.
  func post(_ changes: [IndexChange], of sequence: CommitSequence) {
    if changes.isEmpty { return }
    posted.store(sequence.rawValue, ordering: .releasing)
    inbox.withLock { $0.append(Commit(sequence: sequence.rawValue, changes: changes)) }
  }
}

// MARK: Reading

extension LazyIndex {
  /// Lends the entries as of the newest commit that is visible.
  ///
  /// Commits and other readers of the index wait meanwhile. Should its file turn out to be damaged, `body` is
  /// called again.
  ///
  /// - Throws: What reading the tables throws, should the index have to be made.
  func withNewest<R>(in store: some IndexedStore, _ body: (IndexContent) throws -> R) throws -> R {
    try state.withLock { state in
      while true {
        do {
          try build(&state, in: store)
          let newest = store.newestCommit
          if hasGap(through: newest, state, in: store) {
            try takeInNews(as: store.makeReadViewOfAllCommits(), &state, in: store)
            continue
          }
          try takeIn(through: newest, &state)
          guard let content = state.content else {
            preconditionFailure("an index that was just made is gone")
          }
          return try body(content)
        } catch let damage as DamagedIndexFile where damage.file === state.content?.file {
          state.forget(damage, in: store)
        }
      }
    }
  }

  /// The entries in order, as of a view.
  ///
  /// - Returns: `nil` if the index had to be made, and is newer than the view.
  /// - Complexity: O(1), but for what was committed after the view, or never taken in.
  /// - Throws: What reading the tables throws, should the index have to be made.
  func keys(as view: ReadView, in store: some IndexedStore) throws -> OrderedKeys? {
    switch try content(as: view, in: store) {
    case .ordered(var keys):
      if keys.file != nil { keys.fallback = IndexFallback(definition, as: view, in: store) }
      return keys
    case .unique, .words: preconditionFailure("the index has no order")
    case nil: return nil
    }
  }

  /// The entries as of a view.
  ///
  /// - Parameters:
  ///   - view: The view.
  ///   - store: The store.
  ///   - readsPendingWords: Whether the words of rows that changed are read, if there are more than a few.
  /// - Returns: `nil` if the index is newer than the view.
  /// - Throws: What reading the tables throws, should the index have to be made.
  func content(
    as view: ReadView,
    in store: some IndexedStore,
    readsPendingWords: Bool = true
  ) throws -> IndexContent? {
    let sequence = view.sequence.rawValue
    SchedulePoint.beforeIndexRead.reach()
    return try state.withLock { state in
      while true {
        do {
          try build(&state, in: store)
          if store.allowsSave ? state.base > sequence : state.base != sequence { return nil }
          if hasGap(through: sequence, state, in: store) {
            try takeInNews(as: view, &state, in: store)
            continue
          }
          try takeIn(through: sequence, &state)
          if readsPendingWords { try readPendingWords(as: view, &state, in: store) }
          guard var content = state.content else {
            preconditionFailure("an index that was just made is gone")
          }
          if PlantedFault.newerIndex.isPlanted { return content }
          for commit in state.recent.reversed() {
            // They ascend, and a view that is held keeps many of them.
            if commit.sequence <= sequence { break }
            for change in commit.changes.reversed() { try content.undo(change) }
          }
          return content
        } catch let damage as DamagedIndexFile {
          state.forget(damage, in: store)
        }
      }
    }
  }

  /// Whether the index was made.
  var isBuilt: Bool { state.withLock { $0.content != nil } }

  /// Whether entries in order are in memory, and not in the index's file: all, or those that changed.
  var isInMemory: Bool {
    state.withLock { state in
      guard case .ordered(let keys)? = state.content else { return false }
      return keys.file == nil || keys.isChanged
    }
  }

  /// Takes in that the entries as of a view were written to a file.
  func noteWritten(as view: ReadView) {
    state.withLock { $0.written = view.sequence.rawValue }
  }

  /// The commit as of which this process has written the entries to a file, if they have not changed since.
  var unchangedSince: CommitSequence? {
    state.withLock { state in
      guard state.content != nil, let written = state.written, state.applied <= written,
        inbox.withLock(\.isEmpty)
      else { return nil }
      return CommitSequence(written)
    }
  }

  /// Has the entries in a file take the place of those in memory.
  ///
  /// - Parameters:
  ///   - file: The file, which has the entries as of the view.
  ///   - view: The view that they were written as of.
  ///   - store: The store.
  func handOver(to file: SecondaryIndexFile, as view: ReadView, in store: some IndexedStore) {
    let sequence = view.sequence.rawValue
    // The commits after the view are remembered as long as the view exists.
    withExtendedLifetime(view) {
      state.withLock { state in
        // It may have been made anew meanwhile, and know nothing of the commits since the view.
        guard state.content != nil, state.base <= sequence,
          !hasGap(through: sequence, state, in: store)
        else { return }
        do {
          try takeIn(through: sequence, &state)
          var content = IndexContent(definition, file)
          for commit in state.recent where commit.sequence > sequence {
            for change in commit.changes { try content.apply(change) }
          }
          state.content = content
        } catch {
          // A block is not what was written: the next reader makes the index anew.
          state.forget(nil, in: store)
        }
      }
    }
  }

  /// Takes in what is visible, unless another thread is doing so.
  ///
  /// - Parameters:
  ///   - visible: The newest commit that is visible.
  ///   - oldest: The oldest commit that a reader may still ask for.
  ///   - foreign: The newest commit that another process made.
  func settle(
    through visible: CommitSequence,
    keepingSince oldest: CommitSequence,
    foreign: CommitSequence
  ) {
    _ = state.withLockIfAvailable { state in
      guard state.content != nil else { return }
      do {
        // Commits after those of another process wait for them.
        let isComplete = foreign.rawValue <= state.known
        try takeIn(through: isComplete ? visible.rawValue : state.known, &state)
      } catch {
        // The next reader makes the index anew.
        state.content = nil
        state.ignoresFile = true
        return
      }
      if case .words(let words)? = state.content, words.isAbandoned {
        endRegistration()
        state = State()
        inbox.withLock { $0.removeAll() }
        return
      }
      state.forgetRecent(through: oldest.rawValue)
    }
  }

  /// Forgets everything: for a store that others write to.
  func removeAll() {
    state.withLock { state in
      endRegistration()
      state = State()
      inbox.withLock { $0.removeAll() }
    }
  }
}

// MARK: Keeping in step

extension LazyIndex {
  private func takeIn(through sequence: UInt64, _ state: inout State) throws {
    let commits = inbox.withLock { inbox -> [Commit] in
      guard let first = inbox.first, first.sequence <= sequence else { return [] }
      let end = inbox.firstIndex { $0.sequence > sequence } ?? inbox.count
      if end == inbox.count {
        let all = inbox
        inbox = []
        return all
      }
      let due = Array(inbox[..<end])
      inbox.removeFirst(end)
      return due
    }
    for commit in commits {
      // The scan has seen these commits already.
      if commit.sequence <= state.applied { continue }
      for change in commit.changes { try state.content?.apply(change) }
      state.applied = commit.sequence
      state.remember(commit)
    }
    state.known = max(state.known, sequence)
  }

  /// Whether another process made a commit, up to one of them, that is not taken in.
  ///
  /// - Parameters:
  ///   - sequence: A commit that is visible.
  ///   - state: The index.
  ///   - store: The store.
  /// - Returns: Whether there is one.
  private func hasGap(
    through sequence: UInt64,
    _ state: State,
    in store: some IndexedStore
  ) -> Bool {
    // Commits of others are counted before they are visible.
    store.allowsSave && sequence > state.known && store.newestForeignCommit > state.known
  }

  /// Takes in what other processes have committed, and this one in between, up to a view; older views can no longer be
  /// answered.
  private func takeInNews(
    as view: ReadView,
    _ state: inout State,
    in store: some IndexedStore
  ) throws {
    try takeIn(through: state.known, &state)
    let known = CommitSequence(state.known)
    if let changes = store.changes(of: definition, after: known, through: view) {
      for change in changes { try state.content?.apply(change) }
      let sequence = view.sequence.rawValue
      inbox.withLock { $0.removeAll { $0.sequence <= sequence } }
      state.begin(at: sequence)
      (state.applied, state.known) = (sequence, sequence)
    } else {
      state.content = nil
    }
  }

  /// Reads the words of rows that changed, if there are more than a few.
  ///
  /// The texts that the rows had before are forgotten, so that older views can no longer be answered.
  private func readPendingWords(
    as view: ReadView,
    _ state: inout State,
    in store: some IndexedStore
  ) throws {
    guard case .words(let table, let column, let hash) = definition,
      case .words(var words) = state.content, words.isWorthReading,
      state.applied <= view.sequence.rawValue
    else { return }
    state.content = nil
    try words.readPending(table, column, hash, as: view, in: store)
    state.content = .words(words)
    state.begin(at: view.sequence.rawValue)
  }

  private func build(_ state: inout State, in store: some IndexedStore) throws {
    if state.content?.file?.isDamaged == true { state.forget(nil, in: store) }
    // Of commits that another process made nothing is posted.
    if state.content != nil {
      if store.allowsSave || state.base == store.newestCommit { return }
      if try follow(&state, in: store) { return }
      state.content = nil
    }
    inbox.withLock { $0.removeAll() }
    madeAt.store(0, ordering: .releasing)
    registration.store(true, ordering: .releasing)
    store.recordRegistration()
    do {
      let view = store.makeReadViewOfAllCommits()
      let known = state.ignoresFile ? nil : try load(as: view, &state, in: store)
      state.content = try known ?? IndexContent(definition, of: view, in: store)
      SchedulePoint.afterScan.reach()
      state.begin(at: view.sequence.rawValue)
      state.applied = state.base
      state.known = state.base
      state.written = nil
      madeAt.store(state.base, ordering: .releasing)
    } catch {
      endRegistration()
      throw error
    }
  }

  /// Commits need not be posted any more.
  private func endRegistration() {
    madeAt.store(0, ordering: .releasing)
    registration.store(false, ordering: .releasing)
  }

  /// Reads the index's file, and takes in what was committed since.
  private func load(
    as view: ReadView,
    _ state: inout State,
    in store: some IndexedStore
  ) throws -> IndexContent? {
    guard let (opened, sequence) = open(in: store) else { return nil }
    var content = opened
    if sequence == view.sequence { return content }
    guard let changes = store.changes(of: definition, after: sequence, through: view)
    else { return nil }
    do {
      for change in changes { try content.apply(change) }
      return content
    } catch let damage as DamagedIndexFile {
      state.forget(damage, in: store)
      return nil
    }
  }

  /// Opens the index's file.
  private func open(in store: some IndexedStore) -> (IndexContent, CommitSequence)? {
    if definition.isOfWords {
      guard let words = store.openWords(of: definition), let file = words.file else { return nil }
      return (.words(words), file.header.sequence)
    }
    guard let file = store.openFile(of: definition) else { return nil }
    return (IndexContent(definition, file), file.header.sequence)
  }

  /// Takes in what another process has committed.
  ///
  /// - Returns: Whether that was possible; otherwise the entries are of no more use.
  private func follow(_ state: inout State, in store: some IndexedStore) throws -> Bool {
    let view = store.makeReadViewOfAllCommits()
    let base = CommitSequence(state.base)
    guard let changes = store.changes(of: definition, after: base, through: view) else {
      return false
    }
    for change in changes { try state.content?.apply(change) }
    state.base = view.sequence.rawValue
    state.applied = state.base
    state.known = state.base
    return true
  }
}

/// The entries of an index.
enum IndexContent: Sendable {
  case ordered(OrderedKeys)
  case unique(UniqueRows)
  case words(IndexedWords)

  /// Reads the rows of all tables of an index.
  ///
  /// - Parameters:
  ///   - definition: The index.
  ///   - view: The state to read.
  ///   - store: The store.
  /// - Throws: What reading a row throws.
  init(_ definition: IndexDefinition, of view: ReadView, in store: some IndexedStore) throws {
    if case .words(let table, let column, let hash) = definition {
      self = .words(try IndexedWords(table, column, hash, of: view, in: store))
      return
    }
    let rowCount = definition.tables.reduce(0) { $0 + view.rowCount(of: $1) }
    var scratch: [UInt8] = []
    let isUnique = definition.isUnique
    var unique = UniqueRows(reserving: isUnique ? rowCount : 0)
    var ordered = OrderedKeys.Builder(
      wordCount: definition.wordCount,
      reserving: isUnique ? 0 : rowCount
    )
    for number in definition.tables.sorted() {
      try store.scan(number, of: view) { rowKey, row, rowLayout in
        guard let key = definition.key(of: row, rowLayout, &scratch) else { return }
        let reference = RowReference(table: number, key: rowKey)
        if isUnique {
          unique.insert(reference, UInt32(truncatingIfNeeded: key[0]))
        } else {
          ordered.append(key, reference)
        }
      }
    }
    self = isUnique ? .unique(unique) : .ordered(ordered.finish())
  }

  /// The entries of a file.
  init(_ definition: IndexDefinition, _ file: SecondaryIndexFile) {
    self = definition.isUnique ? .unique(UniqueRows(file)) : .ordered(OrderedKeys(file))
  }

  /// The file that the entries are in, apart from those that changed.
  var file: SecondaryIndexFile? {
    switch self {
    case .ordered(let keys): keys.file
    case .unique(let rows): rows.file
    case .words: nil
    }
  }

  fileprivate mutating func apply(_ change: IndexChange) throws {
    try replace(change.row, change.old, by: change.new)
  }

  fileprivate mutating func undo(_ change: IndexChange) throws {
    // Words name candidates, of which there may be too many.
    if case .words = self { return }
    try replace(change.row, change.new, by: change.old)
  }

  private mutating func replace(_ row: RowReference, _ old: IndexKey?, by new: IndexKey?) throws {
    switch self {
    case .ordered(var keys):
      // Taken out first: what is held twice is copied when it changes.
      self = .unique(UniqueRows())
      defer { self = .ordered(keys) }
      if let old { try keys.remove(IndexEntry(key: old, row: row)) }
      if let new { try keys.insert(IndexEntry(key: new, row: row)) }
    case .unique(var rows):
      self = .unique(UniqueRows())
      defer { self = .unique(rows) }
      if let old { try rows.remove(row, UInt32(truncatingIfNeeded: old[0])) }
      if let new { rows.insert(row, UInt32(truncatingIfNeeded: new[0])) }
    case .words(var words):
      self = .unique(UniqueRows())
      defer { self = .words(words) }
      if !PlantedFault.unindexedWords.isPlanted { words.note(row.key) }
    }
  }

  /// The entries in order, as a file has them.
  ///
  /// - Throws: ``DamagedIndexFile``.
  func ordered() throws -> OrderedKeys {
    switch self {
    case .ordered(let keys): keys
    case .unique(let rows): try rows.ordered()
    case .words: preconditionFailure("words are in runs")
    }
  }

  /// All entries, in order: what two indexes are compared by.
  ///
  /// - Throws: ``DamagedIndexFile``.
  var entries: [IndexEntry] {
    get throws {
      let keys = try ordered()
      try keys.checkInvariants()
      return try keys.entries
    }
  }
}

extension IndexDefinition {
  var isOfWords: Bool {
    switch self {
    case .values, .references, .unique: false
    case .words: true
    }
  }

  var isUnique: Bool {
    switch self {
    case .values, .references, .words: false
    case .unique: true
    }
  }
}
