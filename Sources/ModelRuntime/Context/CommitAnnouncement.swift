import RowFormat

/// Names the rows of a commit to the inboxes of other contexts.
///
/// A context takes over a save by reading rows, all of them as of one commit. That may be newer than the save, and what later
/// commits changed has to be read along: so their rows are in the context's inbox before they are visible, and are taken out
/// with the first state that has them.
///
/// Unchecked, because only the thread that saves uses it.
final class CommitAnnouncement: CommitAnnouncing, @unchecked Sendable {
  private let inboxes: SaveInboxes
  private let sender: SaveInbox?
  private let connectionIndex: Int
  private var touched: [RowReference] = []
  /// The commit's number, once it has one.
  private var number: UInt64?

  init(to inboxes: SaveInboxes, from sender: SaveInbox?, of connectionIndex: Int) {
    self.inboxes = inboxes
    self.sender = sender
    self.connectionIndex = connectionIndex
  }

  /// Adds models that change without their rows, such as the owner of a list that gets a member.
  func touch(_ models: [any PersistentModel]) {
    touched += models.map { $0._$state.reference }
  }

  func announce(_ rows: ChangedRows, as number: UInt64) {
    self.number = number
    var saved = SavedRows(rows, in: connectionIndex)
    saved.updated += touched
    saved.commit = number
    inboxes.expect(saved, from: sender)
  }

  /// Says that the commit is visible.
  ///
  /// - Returns: The closures to call; `nil` if the commit was not announced.
  func confirm() -> [@Sendable () -> Void]? {
    guard let number else { return nil }
    return inboxes.endAnnouncement(of: number, connectionIndex, from: sender)
      .compactMap { $0.confirm(number, of: connectionIndex) }
  }

  func withdraw() {
    guard let number else { return }
    for inbox in inboxes.endAnnouncement(of: number, connectionIndex, from: sender) {
      inbox.withdraw(number, of: connectionIndex)
    }
  }
}
