import Foundation
import LogEngine
import ModelRuntime

/// The stores that containers of this process share.
///
/// A process opens a file once. A second opening gets the open store if its models suffice; otherwise the open store is
/// closed first, and its users get an error from then on.
///
/// Opening and closing may take long, and happen outside the lock. Callers that want the same store wait for them, so
/// no caller runs into a file lock of its own process.
///
/// Invariants:
/// - No two entries are of one place.
/// - The store of an entry holds the lock of its folder until the entry is gone.
/// - A thread holds several stores only in the order of their paths, and before it opens the first.
final class SharedStores: @unchecked Sendable {
  static let all = SharedStores()

  private let condition = NSCondition()
  /// Guarded by the condition, with everything in it.
  private var entries: [Entry] = []

  /// Unchecked, because the condition guards it.
  fileprivate final class Entry: @unchecked Sendable {
    var place: StorePlace
    var phase: Phase
    var leaseCount = 0
    /// The store's lock, while the store is held to be opened.
    var lock: (any FileLock)?

    init(_ place: StorePlace, _ phase: Phase) {
      self.place = place
      self.phase = phase
    }
  }

  fileprivate enum Phase {
    /// To be opened by a thread that holds further stores.
    case held(Thread)
    case opening(Thread)
    case open(TableStore)
    case closing(Thread)
  }

  /// The next step of a caller that wants a store.
  private enum Step {
    case use(TableStore, Entry)
    case open(Entry)
    case close(TableStore, Entry, StoreEnd)
  }

  /// Opens a store, or joins those who have it open.
  ///
  /// - Parameters:
  ///   - place: The store's canonical path and file identity.
  ///   - check: Says whether an open store will do; what it throws is thrown, and the store stays open.
  ///   - make: Opens it, with its lock, if this thread has held it.
  /// - Returns: The right to use it.
  /// - Throws: What the closures throw; ``LogStoreError`` if this thread is opening the store already.
  func lease(
    of place: StorePlace,
    if check: (TableStore) throws -> Bool,
    orOpen make: ((any FileLock)?) throws -> TableStore
  ) throws -> StoreLease {
    while true {
      switch try nextStep(place, check) {
      case .use(let tables, let entry): return lease(of: tables, entry)
      case .close(let tables, let entry, let reason):
        // The next opening recovers what could not be written at the end.
        try? tables.close(reason)
        remove(entry)
      case .open(let entry):
        do {
          let tables = try make(entry.lock.take())
          return didOpen(tables, entry)
        } catch {
          remove(entry)
          throw error
        }
      }
    }
  }

  private func nextStep(
    _ wanted: StorePlace,
    _ check: (TableStore) throws -> Bool
  ) throws -> Step {
    condition.lock()
    defer { condition.unlock() }
    var place = wanted
    while let entry = entries.first(where: { $0.place.isSame(as: place) }) {
      switch entry.phase {
      case .open(let tables):
        if entry.place.isReplaced {
          entry.phase = .closing(.current)
          return .close(tables, entry, .folderReplaced)
        }
        if try check(tables) {
          entry.leaseCount += 1
          return .use(tables, entry)
        }
        entry.phase = .closing(.current)
        return .close(tables, entry, .openedWithOtherModels)
      case .held(let thread) where thread === Thread.current:
        entry.phase = .opening(.current)
        return .open(entry)
      case .held(let thread), .opening(let thread):
        // A migration's code that opens a store must not wait for itself, nor for one that may wait for it.
        if thread === Thread.current || isOpening(.current) { throw Self.locked(entry, "opening") }
        // This store was closed after this thread had held others, one of which its new holder may be waiting for.
        if isHolding(.current) { throw Self.locked(entry, "opening") }
        condition.wait()
        place = wanted.now
      case .closing(let thread):
        // Nor must an event handler that learns of the closing.
        if thread === Thread.current { throw Self.locked(entry, "closing") }
        condition.wait()
        place = wanted.now
      }
    }
    let entry = Entry(place, .opening(.current))
    entries.append(entry)
    return .open(entry)
  }

  /// A store that is held for the thread that is to open it, or that is open already.
  struct Hold: RehearsedOpening {
    fileprivate let stores: SharedStores
    fileprivate let entry: Entry?
    /// The store, if it is open, which it then stays.
    let tables: TableStore?

    /// Keeps the store's lock, which its opening takes over.
    func keep(_ lock: any FileLock) { stores.condition.withLock { entry?.lock = lock } }

    func end() {
      guard let entry else { return }
      if let tables {
        try? stores.endLease(of: tables, entry)
        return
      }
      let isHeld = stores.condition.withLock {
        if case .held = entry.phase { true } else { false }
      }
      if isHeld { stores.remove(entry) }
    }
  }

  /// Holds a store for this thread, which opens it later: others wait.
  ///
  /// - Throws: ``/ModelRuntime/SwiftDataError/duplicateConfiguration`` if this thread holds it; ``LogStoreError`` if it opens
  ///   another.
  func hold(_ wanted: StorePlace) throws -> Hold {
    condition.lock()
    defer { condition.unlock() }
    var place = wanted
    while let entry = entries.first(where: { $0.place.isSame(as: place) }) {
      switch entry.phase {
      case .open(let tables):
        if entry.place.isReplaced { return Hold(stores: self, entry: nil, tables: nil) }
        entry.leaseCount += 1
        return Hold(stores: self, entry: entry, tables: tables)
      case .held(let thread) where thread === Thread.current:
        // Two names of one place, in which there is nothing yet.
        throw SwiftDataError.duplicateConfiguration.explained(
          "two configurations keep their models at \(entry.place.path): give each a place of its own"
        )
      case .held(let thread), .opening(let thread), .closing(let thread):
        if thread === Thread.current || isOpening(.current) { throw Self.locked(entry, "opening") }
        condition.wait()
        place = wanted.now
      }
    }
    let entry = Entry(place, .held(.current))
    entries.append(entry)
    return Hold(stores: self, entry: entry, tables: nil)
  }

  private static func locked(_ entry: Entry, _ activity: String) -> LogStoreError {
    .storage(
      .locked(path: entry.place.path, holder: "this process, which is \(activity) it"),
      while: .opening,
      path: entry.place.path
    )
  }

  private func isOpening(_ thread: Thread) -> Bool {
    entries.contains { if case .opening(thread) = $0.phase { true } else { false } }
  }

  private func isHolding(_ thread: Thread) -> Bool {
    entries.contains { if case .held(thread) = $0.phase { true } else { false } }
  }

  private func didOpen(_ tables: TableStore, _ entry: Entry) -> StoreLease {
    condition.withLock {
      entry.place = entry.place.now
      entry.phase = .open(tables)
      entry.leaseCount = 1
      condition.broadcast()
    }
    return lease(of: tables, entry)
  }

  private func lease(of tables: TableStore, _ entry: Entry) -> StoreLease {
    StoreLease(tables) { [self, entry] tables in try endLease(of: tables, entry) }
  }

  private func endLease(of tables: TableStore, _ entry: Entry) throws {
    let isLast = condition.withLock {
      entry.leaseCount -= 1
      guard entry.leaseCount == 0, case .open = entry.phase else { return false }
      entry.phase = .closing(.current)
      return true
    }
    guard isLast else { return }
    defer { remove(entry) }
    try tables.close(entry.place.isReplaced ? .folderReplaced : .containerClosed)
  }

  private func remove(_ entry: Entry) {
    condition.withLock {
      entry.lock = nil
      entries.removeAll { $0 === entry }
      condition.broadcast()
    }
  }
}
