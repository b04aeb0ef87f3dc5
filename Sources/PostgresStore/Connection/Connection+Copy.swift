#if PostgreSQL
import CPostgres
import Foundation

// Bulk transfer. The server refuses it within a pipeline, so a statement of this kind goes alone.

extension Connection {
  /// Runs `COPY … FROM STDIN`, and sends what a closure hands over.
  ///
  /// - Parameters:
  ///   - sql: The statement.
  ///   - body: Sends the data, piece by piece; the pieces need not end where rows do.
  /// - Returns: The result of the closure.
  /// - Throws: ``PostgresStoreError``, or what the closure throws; nothing is then copied.
  func copyIn<R>(
    _ sql: String,
    _ body: (_ send: @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> R
  ) throws -> R {
    try begin(sql, expecting: PGRES_COPY_IN)
    let result: R
    do {
      result = try body { bytes in
        guard bytes.count > 0, let start = bytes.baseAddress else { return }
        let characters = start.assumingMemoryBound(to: CChar.self)
        if PQputCopyData(self.handle, characters, Int32(bytes.count)) != 1 { throw self.lost() }
      }
    } catch {
      guard isUsable else {
        // The server's refusal is the better reason, if it was reported before the server ended the session.
        throw error
      }
      if PQputCopyEnd(handle, "the sender gave up") == 1 { _ = try? finishCopy() }
      throw error
    }
    guard PQputCopyEnd(handle, nil) == 1 else { throw lost() }
    try finishCopy()
    return result
  }

  /// Runs `COPY … TO STDOUT`, and hands each message to a closure: a row, in the binary format.
  ///
  /// While the closure works, further messages are received, up to some megabytes.
  ///
  /// - Parameters:
  ///   - sql: The statement.
  ///   - body: Reads a message, which it must not keep.
  /// - Throws: ``PostgresStoreError``, or what the closure throws.
  func copyOut(_ sql: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try begin(sql, expecting: PGRES_COPY_OUT)
    var failure: (any Error)?
    func visit(_ chunk: CopyChunk) {
      // The rest is received and dropped: otherwise the session could not be used any more.
      guard failure == nil else { return }
      do {
        try chunk.forEachMessage(body)
      } catch {
        failure = error
        cancel()
      }
    }
    let first = CopyChunk()
    // A few rows are not worth a thread.
    if try receive(into: first) {
      let rest = CopyReadAhead { try self.receive(into: $0) }
      visit(first)
      while let chunk = try rest.next() {
        visit(chunk)
        rest.giveBack(chunk)
      }
    } else {
      visit(first)
    }
    do {
      try finishCopy()
    } catch {
      throw failure ?? error
    }
    if let failure { throw failure }
  }

  /// Receives messages of a copy.
  ///
  /// - Returns: Whether more may come.
  private func receive(into chunk: CopyChunk) throws -> Bool {
    while !chunk.isFull {
      var message: UnsafeMutablePointer<CChar>?
      let length = PQgetCopyData(handle, &message, 0)
      guard length > 0, let message else {
        if length == -1 { return false }
        throw lost()
      }
      defer { PQfreemem(message) }
      chunk.append(UnsafeRawBufferPointer(start: message, count: Int(length)))
    }
    return true
  }

  private func begin(_ sql: String, expecting status: ExecStatusType) throws {
    guard let result = PQexec(handle, sql) else { throw lost() }
    defer { PQclear(result) }
    if PQresultStatus(result) == status { return }
    let error = PostgresStoreError.ServerError(result)
    if PQstatus(handle) == CONNECTION_BAD || error.endsSession { throw lost(error.message) }
    throw PostgresStoreError.server(error)
  }

  /// Reads the server's result for the copy as a whole.
  private func finishCopy() throws {
    var failure: PostgresStoreError.ServerError?
    while let result = PQgetResult(handle) {
      defer { PQclear(result) }
      if PQresultStatus(result) != PGRES_COMMAND_OK {
        failure = failure ?? PostgresStoreError.ServerError(result)
      }
    }
    guard let failure else { return }
    if PQstatus(handle) == CONNECTION_BAD || failure.endsSession { throw lost(failure.message) }
    throw PostgresStoreError.server(failure)
  }

  /// Asks the server to end the statement that runs.
  private func cancel() {
    guard let request = PQgetCancel(handle) else { return }
    defer { PQfreeCancel(request) }
    var text = [CChar](repeating: 0, count: 256)
    _ = PQcancel(request, &text, Int32(text.count))
  }
}
#endif
