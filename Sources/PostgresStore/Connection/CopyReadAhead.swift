#if PostgreSQL
import Foundation
import RowFormat

/// Messages of a copy, one after the other.
final class CopyChunk {
  private var bytes = ByteBuffer(capacity: CopyChunk.size + 4096)
  private var ends: [Int] = []

  /// Number of bytes that are collected before they are handed over.
  private static let size = 128 << 10

  var isFull: Bool { bytes.count >= CopyChunk.size }

  func append(_ message: UnsafeRawBufferPointer) {
    bytes.append(message.bytes)
    ends.append(bytes.count)
  }

  func removeAll() {
    bytes.removeAll()
    ends.removeAll(keepingCapacity: true)
  }

  func forEachMessage(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    try CopyChunk.forEachMessage(in: bytes, endingAt: ends, body)
  }

  private static func forEachMessage(
    in bytes: borrowing ByteBuffer,
    endingAt ends: [Int],
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    try bytes.bytes.withUnsafeBytes { bytes in
      var start = 0
      for end in ends {
        try body(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        start = end
      }
    }
  }
}

/// Receives a copy on a thread of its own, so that the server need not wait until its rows are worked on.
///
/// The session is the thread's until ``next()`` has returned `nil` or thrown.
final class CopyReadAhead: @unchecked Sendable {
  private let condition = NSCondition()
  // Guarded by the condition.
  private var received: [CopyChunk] = []
  private var spare: [CopyChunk] = []
  private var chunkCount = 0
  private var hasEnded = false
  private var failure: (any Error)?

  /// About as much as the server sends while a few megabytes are committed to a log.
  private static let chunkLimit = 16

  /// Begins to receive.
  ///
  /// - Parameter receive: Fills a chunk, and says whether more may come.
  init(_ receive: @escaping @Sendable (CopyChunk) throws -> Bool) {
    Thread.detachNewThread { self.run(receive) }
  }

  private func run(_ receive: (CopyChunk) throws -> Bool) {
    while true {
      let chunk = makeChunk()
      let more = Result { try receive(chunk) }
      if add(chunk, more) { return }
    }
  }

  /// Hands over what was received.
  ///
  /// - Returns: Whether that was all.
  private func add(_ chunk: CopyChunk, _ more: Result<Bool, any Error>) -> Bool {
    condition.withLock {
      received.append(chunk)
      switch more {
      case .success(let isMore): hasEnded = !isMore
      case .failure(let error): (failure, hasEnded) = (error, true)
      }
      condition.broadcast()
      return hasEnded
    }
  }

  /// A chunk to be filled, as soon as there is one.
  private func makeChunk() -> CopyChunk {
    condition.withLock {
      while spare.isEmpty, chunkCount == CopyReadAhead.chunkLimit { condition.wait() }
      if let chunk = spare.popLast() { return chunk }
      chunkCount += 1
      return CopyChunk()
    }
  }

  /// Waits for messages.
  ///
  /// - Returns: Some of them, in order; `nil` after the last ones.
  /// - Throws: The error of receiving them, after the messages that came before it.
  func next() throws -> CopyChunk? {
    try condition.withLock {
      while received.isEmpty, !hasEnded { condition.wait() }
      if !received.isEmpty { return received.removeFirst() }
      if let failure { throw failure }
      return nil
    }
  }

  /// Takes back a chunk whose messages are not needed any more.
  func giveBack(_ chunk: CopyChunk) {
    chunk.removeAll()
    condition.withLock {
      spare.append(chunk)
      condition.broadcast()
    }
  }
}
#endif
