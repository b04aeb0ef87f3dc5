#if PostgreSQL
import Foundation

/// The row with which the transaction of a save begins: it bears the save's name.
struct Announcement {
  private let identifier = Announcement.makeIdentifier()
  private let author: String?
  private let source: UUID
  private let isMigration: Bool
  private let texts: Texts

  /// The statements of a store.
  struct Texts: Sendable {
    fileprivate let first: String
    fileprivate let again: String
    fileprivate let joining: String
    fileprivate let lookUp: String

    init(namespace: String) {
      let commits = "\(namespace.quotedName)._logstore_commit"
      let insertion = "INSERT INTO \(commits) AS c (id, author, source) VALUES ($1, $2, $3)"
      // The remaining row of a save whose history was deleted has its number negated; see `HistoryDeletion`.
      let answer = " RETURNING abs(xid), xid = pg_current_xact_id()::text::bigint"
      // If the network brings the first attempt after the second went through, the row is there, and this one must fail.
      first = "\(insertion) RETURNING xid"
      // The row is written again as it is, and so is in the answer: asked for afterwards, it might be deleted by then.
      again = "\(insertion) ON CONFLICT (id) DO UPDATE SET author = c.author\(answer)"
      joining =
        "\(insertion) ON CONFLICT (xid) DO UPDATE SET author = COALESCE(c.author, excluded.author)\(answer)"
      lookUp = "SELECT abs(xid) FROM \(commits) WHERE id = $1"
    }
  }

  /// Gives a save a name.
  ///
  /// - Parameters:
  ///   - author: The author, if there is one.
  ///   - source: The opening of the store.
  ///   - migration: The migration that the save is a part of.
  ///   - texts: The statements of the store.
  init(author: String?, source: UUID, in migration: MigrationTransaction?, _ texts: Texts) {
    self.author = author
    self.source = source
    isMigration = migration != nil
    self.texts = texts
  }

  /// A name that no other save has: a random UUID, in a tenth of the time that Foundation takes on Linux, which opens a
  /// device for each.
  private static func makeIdentifier() -> UUID {
    var random = SystemRandomNumberGenerator()
    var words = (random.next(), random.next())
    return withUnsafeMutableBytes(of: &words) { bytes in
      bytes[6] = bytes[6] & 0x0F | 0x40
      bytes[8] = bytes[8] & 0x3F | 0x80
      return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
  }

  /// Announces the save for the first time.
  ///
  /// All saves of a migration are one transaction of the history.
  var first: Statement { announcement(isMigration ? texts.joining : texts.first) }

  /// Announces it again: the answer has the number of the save that is there, and says whether that is the one that begins.
  var again: Statement { announcement(isMigration ? texts.joining : texts.again) }

  /// Finds the save, if it was committed.
  var lookUp: Statement { Statement(texts.lookUp) { $0.append(identifier) } }

  private func announcement(_ sql: String) -> Statement {
    Statement(sql) {
      $0.append(identifier)
      $0.append(author)
      $0.append(source)
    }
    .repeated
  }
}
#endif
