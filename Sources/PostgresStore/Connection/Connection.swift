#if PostgreSQL
import CPostgres
import Foundation

/// One session with the server; the pool lends it to one thread at a time.
///
/// Statements are sent in libpq's pipeline mode: any number of them takes one round trip. They are prepared without a
/// name, once for each run of equal ones, so that a pooler may give every transaction another session.
final class Connection: @unchecked Sendable {
  let handle: OpaquePointer
  /// The host and the database, for errors.
  let place: String
  /// Counts the round trips of all connections of a pool.
  private let roundTrips: RoundTripCounter
  /// Whether the session is alive: one that was lost is not used again.
  private(set) var isUsable = true
  /// The savepoints of transactions within one that continues, if the session is lent to the middle of one.
  var nesting: Nesting?
  /// Limit of the server's work on a statement.
  private var limit: StatementLimit?
  /// The statements that the server keeps.
  private var kept = KeptStatements()

  /// Opens a session.
  ///
  /// - Throws: ``PostgresStoreError/cannotConnect(to:reason:)``.
  init(
    _ url: String,
    applicationName: String,
    _ roundTrips: RoundTripCounter,
    limit: StatementLimit? = nil
  ) throws {
    self.roundTrips = roundTrips
    self.limit = limit
    StandardDescriptors.occupy()
    let settings = [
      ("dbname", url), ("client_encoding", "UTF8"), ("fallback_application_name", applicationName),
    ]
    let keywords = settings.map { strdup($0.0) }
    let values = settings.map { strdup($0.1) }
    defer { for text in keywords + values { free(text) } }
    let opened = PQconnectdbParams(
      keywords.map { UnsafePointer($0) } + [nil],
      values.map { UnsafePointer($0) } + [nil],
      1
    )
    guard let opened else {
      throw PostgresStoreError.cannotConnect(to: "the server", reason: "out of memory")
    }
    handle = opened
    let database = PQdb(opened).map { String(cString: $0) } ?? ""
    let host = PQhost(opened).map { String(cString: $0) } ?? ""
    place = "database \(database)" + (host.isEmpty ? "" : " on \(host)")
    guard PQstatus(opened) == CONNECTION_OK else {
      throw PostgresStoreError.cannotConnect(to: place, reason: Connection.message(of: opened))
    }
    // Messages of the server beside errors ("relation exists already, skipping") are of no use here.
    PQsetNoticeReceiver(opened, { _, _ in }, nil)
  }

  deinit { PQfinish(handle) }

  private static func message(of handle: OpaquePointer) -> String {
    let text = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
    return text.split(separator: "\n").joined(separator: " ")
  }

  /// The server's version, as 150004 for 15.4.
  var serverVersion: Int { Int(PQserverVersion(handle)) }

  /// The encoding of the database.
  var serverEncoding: String {
    PQparameterStatus(handle, "server_encoding").map { String(cString: $0) } ?? ""
  }

  /// The process that serves the session, as it was named when the session began; a pooler gives another number.
  var backendProcess: Int32 { PQbackendPID(handle) }

  /// Asks whether the server itself is at the other end, and not a pooler, which may give each transaction another session
  /// of the server.
  ///
  /// - Throws: As ``run(_:)``.
  func isDirect() throws -> Bool {
    let process = try runUncounted([Statement("SELECT pg_backend_pid()::bigint")])[0].integer(0, 0)
    return process == Int64(backendProcess)
  }

  /// Has the server keep statements that are sent again and again; for sessions without a pooler.
  func keepStatements() { kept.isOn = true }

  /// Runs a closure whose statements may take as long as they need.
  func withoutLimit<R>(_ body: () throws -> R) rethrows -> R {
    let former = limit
    limit = nil
    defer { limit = former }
    return try body()
  }

  /// Runs statements in one round trip.
  ///
  /// - Returns: The result of each.
  /// - Throws: ``PostgresStoreError/server(_:)`` for the first that was refused, after which the others did not run;
  ///   ``PostgresStoreError/statementTimedOut(limit:)`` if it was ended since it took too long;
  ///   ``PostgresStoreError/connectionLost(to:reason:)`` if the session has ended.
  func run(_ statements: [Statement]) throws -> [StatementResult] {
    roundTrips.count()
    return try runUncounted(statements)
  }

  /// Runs statements that no caller waits for.
  ///
  /// - Throws: As ``run(_:)``.
  @discardableResult
  func runUncounted(_ statements: [Statement]) throws -> [StatementResult] {
    nesting == nil ? try send(statements) : try runNested(statements)
  }

  /// Sends statements as they are, and reads the answers.
  func send(_ statements: [Statement]) throws -> [StatementResult] {
    guard PQenterPipelineMode(handle) == 1 else { throw lost() }
    let (began, limit) = (ContinuousClock.now, limit)
    let wasIdle = PQtransactionStatus(handle) == PQTRANS_IDLE
    var queue = Queue(count: statements.count)
    let place = limitPlace(among: statements)
    for (index, statement) in statements.enumerated() {
      if let limit, index == place { try enqueue(limit.statement, .unwanted, &queue) }
      try enqueue(statement, .wanted, &queue)
    }
    if let limit, statements.count == place { try enqueue(limit.statement, .unwanted, &queue) }
    guard PQpipelineSync(handle) == 1 else { throw lost() }
    var results: [StatementResult] = []
    var failure: PostgresStoreError.ServerError?
    for answer in queue.expected {
      guard let result = PQgetResult(handle) else { throw lost() }
      switch PQresultStatus(result) {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
        switch answer {
        case .wanted: results.append(StatementResult(result))
        case .unwanted: PQclear(result)
        case .kept(let key, let name):
          kept.add(key, name)
          PQclear(result)
        }
      case PGRES_PIPELINE_ABORTED: PQclear(result)
      default:
        let error = PostgresStoreError.ServerError(result)
        PQclear(result)
        if failure == nil { failure = error }
        if PQstatus(handle) == CONNECTION_BAD || error.endsSession || error.state.isEmpty {
          throw lost(error.message)
        }
      }
      // After each statement's result there is a nil.
      while let more = PQgetResult(handle) { PQclear(more) }
    }
    let refusal = try finishPipeline()
    failure = failure ?? refusal
    guard let failure else { return results }
    if kept.isOn, failure.isAboutKeptStatement {
      kept.giveUp()
      // Tried again, it is sent as any other; here, if nothing of it was done.
      guard wasIdle, statements.dropLast().allSatisfy({ $0.boundary != .commit }) else {
        throw PostgresStoreError.server(failure.asTransient)
      }
      if !isIdle { _ = try send([.rollback]) }
      return try send(statements)
    }
    throw limit?.timeout(failure, since: began) ?? .server(failure)
  }

  /// Reads the end of a pipeline, which is that of a transaction without `BEGIN`.
  ///
  /// - Returns: The error by which the server refused to commit it.
  private func finishPipeline() throws -> PostgresStoreError.ServerError? {
    var refusal: PostgresStoreError.ServerError?
    guard var end = PQgetResult(handle) else { throw lost() }
    if PQresultStatus(end) == PGRES_FATAL_ERROR {
      let error = PostgresStoreError.ServerError(end)
      PQclear(end)
      if PQstatus(handle) == CONNECTION_BAD || error.endsSession || error.state.isEmpty {
        throw lost(error.message)
      }
      refusal = error
      // After it there is a nil, as after the result of each statement.
      if let more = PQgetResult(handle) { PQclear(more) }
      guard let next = PQgetResult(handle) else { throw lost() }
      end = next
    }
    let status = PQresultStatus(end)
    PQclear(end)
    guard status == PGRES_PIPELINE_SYNC, PQexitPipelineMode(handle) == 1 else { throw lost() }
    return refusal
  }

  /// The use of a result of the server.
  private enum Answer {
    case wanted
    case unwanted
    /// It says that the server keeps a statement.
    case kept(KeptStatements.Key, String)
  }

  /// The statements that were sent in one round trip.
  private struct Queue {
    /// The server's answers: one result for each statement, and one more if it was prepared.
    var expected: [Answer] = []
    /// The statement that was prepared last without a name.
    var prepared: String?
    /// The statements that got names.
    var named: [KeptStatements.Key: String] = [:]

    init(count: Int) { expected.reserveCapacity(count + 1) }
  }

  /// Sends one statement, prepared before if the server does not keep it.
  private func enqueue(_ statement: Statement, _ answer: Answer, _ queue: inout Queue) throws {
    var name = ""
    if kept.isOn, statement.repetition != .none, nesting == nil {
      let key = KeptStatements.Key(statement)
      if let known = kept.name(of: key) ?? queue.named[key] {
        name = known
      } else if let new = kept.makeName(for: key, statement.repetition) {
        try prepare(statement, new)
        queue.named[key] = new
        queue.expected.append(.kept(key, new))
        name = new
      }
    }
    if name.isEmpty, statement.sql != queue.prepared {
      try prepare(statement, "")
      queue.prepared = statement.sql
      queue.expected.append(.unwanted)
    }
    try execute(statement.parameters, name)
    queue.expected.append(answer)
  }

  /// The place among statements for the limit of a new transaction: no round trip is added.
  private func limitPlace(among statements: [Statement]) -> Int? {
    // The limit ends with the transaction. Statements without `BEGIN` are one transaction, up to the end of the pipeline.
    guard limit != nil, PQtransactionStatus(handle) == PQTRANS_IDLE else { return nil }
    return statements.first?.beginsTransaction == true ? 1 : 0
  }

  private func prepare(_ statement: Statement, _ name: String) throws {
    let types = statement.parameters.types.map { Oid($0.rawValue) }
    guard PQsendPrepare(handle, name, statement.sql, Int32(types.count), types) == 1 else {
      throw lost()
    }
  }

  private func execute(_ parameters: Parameters, _ name: String) throws {
    let count = parameters.count
    let isSent = parameters.bytes.withUnsafeBytes { bytes in
      withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { values in
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * count) { numbers in
          // A value without bytes needs an address too: a missing address means null.
          let empty = UnsafeRawPointer(bitPattern: 1)
          for (place, range) in parameters.ranges.enumerated() {
            let start = range.flatMap { range in
              bytes.baseAddress.map { $0 + range.lowerBound } ?? empty
            }
            values.initializeElement(at: place, to: start?.assumingMemoryBound(to: CChar.self))
            numbers.initializeElement(at: place, to: Int32(range?.count ?? 0))
            numbers.initializeElement(at: count + place, to: 1)
          }
          let (lengths, formats) = (numbers.baseAddress, numbers.baseAddress.map { $0 + count })
          return PQsendQueryPrepared(
            handle,
            name,
            Int32(count),
            values.baseAddress,
            lengths,
            formats,
            1
          ) == 1
        }
      }
    }
    if !isSent { throw lost() }
  }

  /// Notes that the session is over.
  func lost(_ reason: String? = nil) -> PostgresStoreError {
    isUsable = false
    return .connectionLost(to: place, reason: reason ?? Connection.message(of: handle))
  }

  /// Waits until there is a notice on a channel that the session listens to.
  ///
  /// - Parameter time: The longest wait for one.
  /// - Throws: ``PostgresStoreError/connectionLost(to:reason:)``.
  func waitForNotice(atMost time: Duration) throws {
    // One may have come with the answer to a statement that did not see yet what it is about.
    if takeNotices() { return }
    var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    _ = poll(&descriptor, 1, Int32(time.seconds * 1000))
    guard PQconsumeInput(handle) == 1 else { throw lost() }
    _ = takeNotices()
  }

  private func takeNotices() -> Bool {
    var found = false
    while let notice = PQnotifies(handle) {
      found = true
      PQfreemem(notice)
    }
    return found
  }

  /// Ends a transaction whose statements failed; a session that cannot is not used again.
  func rollBack() {
    if isUsable { _ = try? run([.rollback]) }
  }

  /// Whether the session is outside of every transaction, as its next borrower expects.
  var isIdle: Bool {
    if let nesting { return isUsable && !nesting.isOpen }
    return isUsable && PQtransactionStatus(handle) == PQTRANS_IDLE
  }
}

extension PostgresStoreError.ServerError {
  /// Reads an error of libpq; an empty state means that it does not come from the server.
  init(_ result: OpaquePointer) {
    func field(_ code: Character) -> String? {
      guard let ascii = code.asciiValue else { return nil }
      return PQresultErrorField(result, Int32(ascii)).map { String(cString: $0) }
    }
    self.init(
      state: field("C") ?? "",
      message: field("M") ?? String(cString: PQresultErrorMessage(result)),
      detail: field("D"),
      constraint: field("n")
    )
  }
}
#endif
