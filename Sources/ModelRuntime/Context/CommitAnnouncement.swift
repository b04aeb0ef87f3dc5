import RowFormat

/// Names the rows of a commit to the inboxes of other contexts.
///
/// A context takes over a save by reading rows, all of them as of one commit. That may be newer than the save, and what later
/// commits changed has to be read along: so their rows are in the context's inbox before they are visible, and are taken out
/// with the first state that has them.
///
/// Unchecked, because only the thread that saves uses it.
final class CommitAnnouncement: CommitAnnouncing, @unchecked Sendable {
  /// The contexts of one container.
  struct Target {
    let inboxes: SaveInboxes
    /// The context that saves, if it is one of these.
    let sender: SaveInbox?
    /// The index that the store has in the container.
    let connectionIndex: Int
  }

  private let targets: [Target]
  private var touched: [RowReference] = []
  /// The commit's number, once it has one.
  private var number: UInt64?

  init(to targets: [Target]) { self.targets = targets }

  /// Adds models that change without their rows, such as the owner of a list that gets a member.
  func touch(_ models: [any PersistentModel]) {
    touched += models.map { $0._$state.reference }
  }

  func announce(_ rows: ChangedRows, as number: UInt64) {
    self.number = number
    for target in targets {
      var saved = SavedRows(rows, in: target.connectionIndex)
      saved.updated += touched
      saved.commit = number
      target.inboxes.expect(saved, from: target.sender)
    }
  }

  /// Says that the commit is visible.
  ///
  /// - Returns: The closures to call; `nil` if the commit was not announced.
  func confirm() -> [@Sendable () -> Void]? {
    guard let number else { return nil }
    return targets.flatMap { target in
      target.inboxes.endAnnouncement(of: number, target.connectionIndex, from: target.sender)
        .compactMap { $0.confirm(number, of: target.connectionIndex) }
    }
  }

  func withdraw() {
    guard let number else { return }
    for target in targets {
      let index = target.connectionIndex
      let inboxes = target.inboxes.endAnnouncement(of: number, index, from: target.sender)
      for inbox in inboxes { inbox.withdraw(number, of: index) }
    }
  }
}
