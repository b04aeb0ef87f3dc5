import RowFormat

/// Names the rows of a commit to the inboxes of other contexts.
///
/// A context takes over a save by reading rows, all of them as of one commit. That may be newer than the save, and what later
/// commits changed has to be read along: so their rows are in the context's inbox before they are visible, and are taken out
/// with the first state that has them.
///
/// Unchecked, because only the thread that saves uses it.
final class CommitAnnouncement: CommitAnnouncing, @unchecked Sendable {
  private let inboxes: [SaveInbox]
  private let connectionIndex: Int
  private var touched: [RowReference] = []
  /// The commit's number, once it has one.
  private var number: UInt64?

  init(to inboxes: [SaveInbox], from connectionIndex: Int) {
    self.inboxes = inboxes
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
    for inbox in inboxes { inbox.expect(saved) }
  }

  /// Notifies a context of the commit, which is visible now.
  ///
  /// - Returns: Whether the commit was announced to the context; and the closure to call, if any.
  func confirm(to inbox: SaveInbox) -> (wasAnnounced: Bool, notice: (@Sendable () -> Void)?) {
    guard let number, inboxes.contains(where: { $0 === inbox }) else {
      return (false, nil)
    }
    return (true, inbox.confirm(number, of: connectionIndex))
  }

  func withdraw() {
    guard let number else { return }
    for inbox in inboxes { inbox.withdraw(number, of: connectionIndex) }
  }
}
