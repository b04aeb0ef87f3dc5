#if PostgreSQL
/// The state of a session whose transaction continues, whatever its borrowers do.
///
/// To them the session is as any other: they begin transactions, and end them. On the server each of these is a savepoint,
/// so that one that fails takes back its own changes and no others.
struct Nesting {
  /// Whether a borrower has begun a transaction, as it sees it.
  var isOpen = false

  fileprivate static let savepoint = Statement("SAVEPOINT nested")
  fileprivate static let release = Statement("RELEASE SAVEPOINT nested")
  fileprivate static let undo = [Statement("ROLLBACK TO SAVEPOINT nested"), release]
  /// Checks what was deferred, so that nothing is left to be checked later: until then no table could be altered.
  fileprivate static let commit = [
    Statement("SET CONSTRAINTS ALL IMMEDIATE"), Statement("SET CONSTRAINTS ALL DEFERRED"), release,
  ]
  fileprivate static let nothing = Statement("SELECT")
}

extension Connection {
  /// Runs statements within a transaction that continues.
  ///
  /// - Throws: As ``run(_:)``. Statements outside of every nested transaction are one of their own, so what the server
  ///   refuses does not end the transaction around them.
  func runNested(_ statements: [Statement]) throws -> [StatementResult] {
    var isOpen = nesting?.isOpen ?? false
    let isAlone = !isOpen && statements.allSatisfy { $0.boundary == nil }
    var sent = isAlone ? [Nesting.savepoint] : []
    // The place of each statement's result among the results of the statements that are sent.
    var places: [Int] = []
    for statement in statements {
      switch statement.boundary {
      case .begin: sent.append(Nesting.savepoint)
      case .commit: sent += Nesting.commit
      case .rollback: sent += isOpen ? Nesting.undo : [Nesting.nothing]
      case nil: sent.append(statement)
      }
      if let boundary = statement.boundary { isOpen = boundary == .begin }
      places.append(sent.count - 1)
    }
    if isAlone { sent.append(Nesting.release) }
    do {
      let results = try send(sent)
      nesting?.isOpen = isOpen
      return places.map { results[$0] }
    } catch PostgresStoreError.server(let error) {
      if isAlone {
        _ = try send(Nesting.undo)
      } else if statements.first?.boundary == .begin {
        nesting?.isOpen = true
      }
      throw PostgresStoreError.server(error)
    }
  }
}
#endif
