#if PostgreSQL
/// A statement of SQL with the values of its parameters.
struct Statement: Sendable {
  let sql: String
  var parameters: Parameters

  init(_ sql: String, _ parameters: Parameters = Parameters()) {
    self.sql = sql
    self.parameters = parameters
  }

  /// Makes a statement whose parameters a closure appends.
  init(_ sql: String, _ append: (inout Parameters) -> Void) {
    self.sql = sql
    parameters = Parameters()
    append(&parameters)
  }

  static let begin = Statement("BEGIN")
  /// Every statement of the transaction sees one state of the database.
  static let beginSnapshot = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
  static let commit = Statement("COMMIT")
  static let rollback = Statement("ROLLBACK")
}

extension String {
  /// The text as a name in SQL, quoted.
  var quotedName: String { "\"" + replacing("\"", with: "\"\"") + "\"" }
  /// The text as a constant in SQL, quoted.
  var quotedText: String { "'" + replacing("'", with: "''") + "'" }
}
#endif
