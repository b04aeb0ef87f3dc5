public import Foundation
import Synchronization

extension ModelContext {
  /// Posted before a save, with the context as its object.
  ///
  /// Posted from the first time the program reads this name.
  public static var willSave: Notification.Name { SaveNotifications.willSave.nameToObserve }

  /// Posted after a save that succeeded, with the context as its object and, in `userInfo`, the
  /// identifiers of inserted, updated and deleted models under ``NotificationKey``.
  ///
  /// Posted from the first time the program reads this name.
  public static var didSave: Notification.Name { SaveNotifications.didSave.nameToObserve }

  /// The keys of a save notification.
  ///
  /// Each value is an array, stored under the key and under its `rawValue`, and present only if it is
  /// not empty.
  public enum NotificationKey: String, Sendable {
    /// Present for source compatibility; no notification has it.
    case queryGeneration
    /// Present for source compatibility; no notification has it.
    case invalidatedAllIdentifiers
    /// The identifiers of the models that were inserted, permanent ones.
    case insertedIdentifiers
    /// The identifiers of the models that were updated.
    case updatedIdentifiers
    /// The identifiers of the models that were deleted.
    case deletedIdentifiers
    /// The bookmarks after the save: a dictionary of store identifiers and tokens, `[String: any HistoryToken]`.
    case historyTokens
  }
}

/// The notifications of saves, which are not posted as long as there can be no observer.
///
/// A notification costs some six thousand instructions even without an observer, and two are more than a third of
/// a small save. An observer reads their names first; a notification center does not report its observers.
enum SaveNotifications {
  /// A name that records whether it was ever read.
  struct Observable: ~Copyable {
    private let name: Notification.Name
    private let isAskedFor = Atomic(false)

    init(_ name: String) { self.name = Notification.Name(name) }

    /// The name, for code that may observe it.
    var nameToObserve: Notification.Name {
      isAskedFor.store(true, ordering: .releasing)
      return name
    }

    /// The name, if it may be observed.
    var observedName: Notification.Name? {
      isAskedFor.load(ordering: .acquiring) ? name : nil
    }
  }

  static let willSave = Observable("SwiftData.ModelContext.willSave")
  static let didSave = Observable("SwiftData.ModelContext.didSave")

  static func postWillSave(of context: ModelContext) {
    guard let name = willSave.observedName else { return }
    NotificationCenter.default.post(name: name, object: context.noticeSender ?? context)
  }

  static func postDidSave(of context: ModelContext, _ notice: () -> SaveNotice) {
    guard let name = didSave.observedName else { return }
    NotificationCenter.default.post(
      name: name,
      object: context.noticeSender ?? context,
      userInfo: notice().userInfo
    )
  }
}
