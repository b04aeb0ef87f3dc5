import Dispatch
public import Foundation
import Synchronization

#if !canImport(Darwin)
extension Notification.Name {
  /// Posted soon after a save, of this process or of another one; `userInfo` has the store's identifier under
  /// `"NSStoreUUID"`.
  ///
  /// Saves in quick succession may share one notification, which comes on a thread of its own. It is posted from the first
  /// time the program reads this name. Saves of other processes are noticed while a context of the container merges them
  /// (``ModelContext/automaticallyMergesChanges``, as the main context does) or observes models.
  public static var NSPersistentStoreRemoteChange: Notification.Name {
    StoreChangeNotice.name.nameToObserve
  }
}
#endif

/// Posts the notification that a store has changed, in this process or in another one.
final class StoreChangeNotice: Sendable {
  static let name = SaveNotifications.Observable("NSPersistentStoreRemoteChangeNotification")

  private let storeIdentifier: String
  private let isDue = Atomic(false)

  init(of storeIdentifier: String) { self.storeIdentifier = storeIdentifier }

  /// Posts the notification soon, unless it is due already or nobody can observe it.
  ///
  /// Never on the caller's thread, which may hold locks of the store.
  func postSoon() {
    guard let name = Self.name.observedName else { return }
    guard !isDue.exchange(true, ordering: .sequentiallyConsistent) else { return }
    DispatchQueue.global(qos: .userInitiated).async {
      // Cleared first, so that a save from now on posts a notification of its own.
      self.isDue.store(false, ordering: .sequentiallyConsistent)
      NotificationCenter.default.post(
        name: name,
        object: nil,
        userInfo: ["NSStoreUUID": self.storeIdentifier]
      )
    }
  }
}
