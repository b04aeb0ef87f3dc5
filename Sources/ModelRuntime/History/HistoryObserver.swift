import Observation
import Synchronization

/// Counts the saves of a container that match its filter.
///
///     let observer = try HistoryObserver(observedModels: [Trip.self], modelContainer: container)
///     withObservationTracking {
///       _ = observer.eventCounter
///     } onChange: {
///       …  // time to fetch the history
///     }
///
/// It counts the saves of all contexts of the container, and those of other processes and machines if the store
/// reports them: on the thread that saved, or that noticed. A fetch on another thread may return such a save just
/// before it is counted. The counter shows *that* something happened; ``ModelContext/fetchHistory(_:)`` returns the
/// changes. Deleting history is no save, and lowers no count,
/// except that saves of other processes deleted from the store before they were noticed are not counted.
public final class HistoryObserver: Sendable, Observable {
  /// The container whose saves count.
  public let modelContainer: ModelContainer
  /// The classes whose changes count; all, if empty.
  public let observedModels: [any PersistentModel.Type]
  /// The authors whose saves count; all, if empty.
  public let authors: Set<String>

  private let registrar = ObservationRegistrar()
  private let filter: HistoryFilter
  private let state = Mutex(State())

  private struct State: Sendable {
    var count = 0
    /// The events before the beginning was determined.
    var early: [SaveEvent]? = []
    /// By store, the bookmark after the counted saves; only if saves may be met twice.
    var bookmarks: [String: any HistoryToken] = [:]
    /// By store with other writers, the saves of this container after the bookmark: counted when they were announced.
    var heard: [String: Set<HeardToken>] = [:]
    /// The watches that make stores look for saves of other processes.
    var watches: [any AnyObject & Sendable] = []

    /// Moves the bookmark of a store, and forgets the saves that are now before it.
    mutating func remember(_ token: (any HistoryToken)?, of store: String) {
      bookmarks[store] = token
      guard let token, let heard = heard[store], !heard.isEmpty else { return }
      self.heard[store] = heard.filter { isLater($0.token, than: token) }
    }
  }

  /// The number of matching saves since the observer was made, or since the tokens it was given.
  ///
  /// A save matches by the classes of its changes in the history. A batch, which writes rows without objects, also
  /// counts for those whose lists its rows may be members of, whether that changed or not.
  public var eventCounter: Int {
    registrar.access(self, keyPath: \.eventCounter)
    return state.withLock { $0.count }
  }

  /// Begins to count.
  ///
  /// - Parameters:
  ///   - historyTokens: The beginning, by store identifier; now, for a store without a token.
  ///   - observedModels: The classes whose changes count, with their subclasses; all, if empty.
  ///   - authors: The authors whose saves count; all, if empty.
  ///   - modelContainer: The container whose stores are observed.
  ///   - isolation: Of no effect: an observer can be used from everywhere.
  /// - Throws: ``SwiftDataError/historyTokenExpired`` for a token before which history was deleted;
  ///   ``SwiftDataError/invalidTransactionFetchRequest`` for a token of a store that the container does not have.
  public convenience init(
    historyTokens: [String: any HistoryToken]? = nil,
    observedModels: [any PersistentModel.Type] = [],
    authors: Set<String> = [],
    modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    self.init(observedModels, authors, modelContainer)
    modelContainer.coordinator.saveListeners.add(self)
    try begin(from: historyTokens ?? [:])
  }

  private init(
    _ observedModels: [any PersistentModel.Type],
    _ authors: Set<String>,
    _ modelContainer: ModelContainer
  ) {
    self.observedModels = observedModels
    self.authors = authors
    self.modelContainer = modelContainer
    filter = HistoryFilter(models: observedModels.map(ModelDescriptor.of), authors: authors)
  }

  deinit { modelContainer.coordinator.saveListeners.remove(self) }

  private func begin(from tokens: [String: any HistoryToken]) throws {
    let connections = modelContainer.coordinator.connections
    for identifier in tokens.keys
    where !connections.contains(where: { $0.identifier == identifier }) {
      throw SwiftDataError.invalidTransactionFetchRequest.explained(
        "a token belongs to the store \(identifier), which is not one of the container's stores"
      )
    }
    var count = 0
    for connection in connections {
      let token = tokens[connection.identifier]
      let history = connection.store.history
      if let token {
        guard let history else { throw DataStoreError.unsupportedFeature }
        // A token of several stores is not compared with those of one.
        let own = (token as? DefaultHistoryToken)?.bookmark(in: connection.identifier)
        // An expired token throws here, whatever the log still has.
        let left = try history.transactions(since: token)
        let all = try allTransactions(since: own ?? token, in: history)
        count += try take(all ?? left, of: connection, since: own ?? token)
      }
      guard let remote = history as? any RemoteSaveReporting else { continue }
      state.withLock { $0.heard[connection.identifier] = [] }
      if token == nil { try remember(remote.newestToken(), of: connection) }
      watch(remote, connection)
    }
    let early = state.withLock { state in
      defer { state.early = nil }
      return state.early ?? []
    }
    count += early.count(where: isNews)
    if count > 0 { add(count) }
  }

  private func add(_ count: Int) {
    registrar.withMutation(of: self, keyPath: \.eventCounter) {
      state.withLock { $0.count += count }
    }
  }
}

// MARK: Saves of this container

extension HistoryObserver: SaveListener {
  func heard(_ event: SaveEvent) {
    let isEarly = state.withLock { state in
      state.early?.append(event)
      return state.early != nil
    }
    if isEarly { return }
    if isNews(event) { add(1) }
    catchUp()
  }

  /// Whether an event counts and has not been counted yet.
  private func isNews(_ event: SaveEvent) -> Bool {
    guard filter.matches(event) else { return false }
    return state.withLock { state in
      let isKnown = event.tokens.contains { store, token in
        state.bookmarks[store].map { !isLater(token, than: $0) } ?? false
      }
      if isKnown { return false }
      // The history will list it, too.
      for (store, token) in event.tokens { state.heard[store]?.insert(HeardToken(token)) }
      return true
    }
  }

  /// Maximum number of this container's saves remembered until the history lists them.
  static var heardLimit: Int { 512 }

  /// The number of saves of this container that the history has not listed yet.
  var heardCount: Int { state.withLock { $0.heard.values.reduce(0) { $0 + $1.count } } }

  /// Reads the history if this container alone has saved for long: no other writer triggers the reading.
  private func catchUp() {
    let stores = state.withLock { state in
      state.heard.filter { $0.value.count >= Self.heardLimit }.map(\.key)
    }
    for connection in modelContainer.coordinator.connections
    where stores.contains(connection.identifier) {
      noticeRemoteSaves(connection)
    }
  }
}

/// The token of a save, of whatever type.
private struct HeardToken: Hashable, Sendable {
  let token: any HistoryToken

  init(_ token: any HistoryToken) { self.token = token }

  static func == (lhs: HeardToken, rhs: HeardToken) -> Bool {
    func compare<T: HistoryToken>(_ token: T) -> Bool { rhs.token as? T == token }
    return compare(lhs.token)
  }

  func hash(into hasher: inout Hasher) { token.hash(into: &hasher) }
}

// MARK: Saves of other processes

extension HistoryObserver {
  private func watch(_ store: any RemoteSaveReporting, _ connection: StoreConnection) {
    let watch = store.observeRemoteSaves { [weak self] in self?.noticeRemoteSaves(connection) }
    guard let watch else {
      // There are no other writers: the history will not be read.
      return state.withLock { $0.heard[connection.identifier] = nil }
    }
    state.withLock { $0.watches.append(watch) }
  }

  private func noticeRemoteSaves(_ connection: StoreConnection) {
    guard let history = connection.store.history else { return }
    let bookmark = state.withLock { $0.bookmarks[connection.identifier] }
    do {
      let count = try take(
        transactions(behind: bookmark, in: history),
        of: connection,
        since: bookmark
      )
      if count > 0 { add(count) }
    } catch {
      // The changes can no longer be listed: that counts as an event, too.
      try? remember(history.newestToken(), of: connection)
      add(1)
    }
  }

  /// The transactions after a bookmark, deleted ones included; the remaining ones if some of them are gone.
  ///
  /// - Throws: ``SwiftDataError/historyTokenExpired`` if the bookmark is newer than the store, as after an older copy was put
  ///   back; the store's error if the store cannot be read.
  private func transactions(
    behind bookmark: (any HistoryToken)?,
    in history: any HistoryProviding
  ) throws -> [any HistoryTransaction] {
    if let bookmark, let all = try allTransactions(since: bookmark, in: history) { return all }
    do {
      return try history.transactions(since: bookmark)
    } catch let expired as SwiftDataError where expired == .historyTokenExpired {
      guard let bookmark else { throw expired }
      let left = try history.transactions(since: nil)
      // The deleted part is the beginning: all remaining transactions come after the bookmark.
      if let newest = left.last?.anyToken, !isLater(newest, than: bookmark) { throw expired }
      return left
    }
  }

  /// The transactions after a bookmark, with those deleted by a predicate, which are missing in the history without a trace.
  ///
  /// - Returns: The transactions; `nil` if the store no longer has all of them, or keeps no deleted ones.
  private func allTransactions(
    since bookmark: any HistoryToken,
    in history: any HistoryProviding
  ) throws -> [any HistoryTransaction]? {
    try (history as? any DeletedHistoryReading)?.allTransactions(since: bookmark)
  }

  /// Records the position up to which a store's history was read.
  ///
  /// - Returns: The number of matching transactions that were not counted elsewhere meanwhile.
  private func take(
    _ transactions: [any HistoryTransaction],
    of connection: StoreConnection,
    since bookmark: (any HistoryToken)?
  ) throws -> Int {
    let newest = transactions.last.flatMap { $0.anyToken } ?? bookmark
    let store = connection.identifier
    let (known, heard) = state.withLock { state in
      let (known, heard) = (state.bookmarks[store], state.heard[store] ?? [])
      if let newest, known.map({ isLater(newest, than: $0) }) ?? true {
        state.remember(newest, of: store)
      }
      return (known, heard)
    }
    return transactions.count { transaction in
      guard filter.matches(transaction) else { return false }
      guard let token = transaction.anyToken else { return true }
      // Another thread may have counted it since the transactions were read, or it is this container's own.
      if let known, !isLater(token, than: known) { return false }
      return !heard.contains(HeardToken(token))
    }
  }

  private func remember(_ token: (any HistoryToken)?, of connection: StoreConnection) {
    state.withLock { $0.remember(token, of: connection.identifier) }
  }
}

/// Whether one token is after another of its type; tokens of two types cannot be compared, and count as later.
private func isLater(_ token: any HistoryToken, than other: any HistoryToken) -> Bool {
  func compare<T: HistoryToken>(_ token: T) -> Bool { (other as? T).map { token > $0 } ?? true }
  return compare(token)
}

extension HistoryTransaction {
  fileprivate var anyToken: (any HistoryToken)? { token as? any HistoryToken }
}
