#if PostgreSQL
/// A statement of SQL with the values of its parameters.
struct Statement: Sendable {
  /// A statement's effect on the transaction that a session is in.
  enum Boundary: Sendable { case begin, commit, rollback }

  /// The expected repetition of the same text, with other values.
  enum Repetition: Sendable {
    case none
    /// An app has such a statement for each of its fetches, and some for one fetch only: the server keeps a statement that
    /// is sent a second time in a session.
    case possible
    /// The server keeps it, with its plan, if the session belongs to one server.
    case certain
  }

  let sql: String
  var parameters: Parameters
  /// Whether the statement begins or ends a transaction.
  private(set) var boundary: Boundary?
  private(set) var repetition = Repetition.none

  init(_ sql: String, _ parameters: Parameters = Parameters()) {
    self.sql = sql
    self.parameters = parameters
  }

  private init(_ sql: String, _ boundary: Boundary) {
    self.init(sql)
    self.boundary = boundary
  }

  /// Makes a statement whose parameters a closure appends.
  init(_ sql: String, _ append: (inout Parameters) -> Void) {
    self.sql = sql
    parameters = Parameters()
    append(&parameters)
  }

  /// The same statement, as one that is sent again and again.
  var repeated: Statement { with(.certain) }

  /// The same statement, as one that may be sent again.
  var repeatable: Statement { with(.possible) }

  private func with(_ repetition: Repetition) -> Statement {
    var statement = self
    statement.repetition = repetition
    return statement
  }

  /// Every statement of the transaction sees what was committed before it: the questions that a save asks after it has waited
  /// for another one rely on that, whatever the database's default is.
  static let begin = Statement("BEGIN ISOLATION LEVEL READ COMMITTED", .begin).repeated
  /// Every statement of the transaction sees one state of the database.
  static let beginSnapshot = Statement(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    .begin
  )
  .repeated
  static let commit = Statement("COMMIT", .commit).repeated
  static let rollback = Statement("ROLLBACK", .rollback)

  /// Has the server end the session if the next statement of the transaction does not come in time.
  static func limitIdleness(_ limit: Duration) -> Statement {
    let milliseconds = max(1, Int(limit / .milliseconds(1)))
    return Statement("SET LOCAL idle_in_transaction_session_timeout = \(milliseconds)").repeated
  }

  /// Whether it begins a transaction that continues after it.
  var beginsTransaction: Bool { sql.hasPrefix("BEGIN") }
}

extension String {
  /// The text as a name in SQL, quoted.
  var quotedName: String {
    // Asked for with each statement, and nearly no name has one.
    utf8.contains(UInt8(ascii: "\"")) ? "\"\(replacing("\"", with: "\"\""))\"" : "\"\(self)\""
  }
  /// The text as a constant in SQL, quoted.
  var quotedText: String { "'" + replacing("'", with: "''") + "'" }
}
#endif
