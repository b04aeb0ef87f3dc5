#if PostgreSQL
/// Limit of the server's work on a statement, including waits for locks.
///
/// It is set within each transaction, and ends with it: sessions are left as they were, so that a pooler may lend them to
/// others.
struct StatementLimit: Sendable {
  let duration: Duration
  /// Sets the limit for the statements after it in its transaction.
  let statement: Statement

  init(_ duration: Duration) {
    self.duration = duration
    // Zero would mean that there is none; a number beyond 32 bits would be refused.
    let milliseconds = min(max(1, duration / .milliseconds(1)), Double(Int32.max))
    statement =
      Statement("SELECT set_config('statement_timeout', $1, true)") {
        $0.append("\(Int(milliseconds))")
      }
      .repeated
  }

  /// The error for a statement that was ended because of the limit; `nil` if it failed otherwise.
  func timeout(
    _ error: PostgresStoreError.ServerError,
    since began: ContinuousClock.Instant
  ) -> PostgresStoreError? {
    // An administrator's cancellation has the same code, and may come earlier.
    guard error.state == SQLState.queryCanceled, began.duration(to: .now) >= duration else {
      return nil
    }
    return .statementTimedOut(limit: duration)
  }
}
#endif
