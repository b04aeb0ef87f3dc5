import Foundation
import Synchronization

/// A lock for each store of the process, shared by all containers that have it open.
enum ListLocks {
  private struct Entry {
    weak var lock: NSRecursiveLock?
  }

  private static let locks = Mutex<[String: Entry]>([:])

  /// The lock of a store; recursive, because encoding a model runs code of the app, which may save.
  static func lock(of store: String) -> NSRecursiveLock {
    locks.withLock { locks in
      if let known = locks[store]?.lock { return known }
      let made = NSRecursiveLock()
      locks = locks.filter { $0.value.lock != nil }
      locks[store] = Entry(lock: made)
      return made
    }
  }
}
