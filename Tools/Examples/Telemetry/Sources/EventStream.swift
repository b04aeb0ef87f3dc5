import Hummingbird
import ServiceLifecycle
import SwiftData

/// Writes events for one client, in the format of Server-Sent Events.
struct EventWriter {
  fileprivate(set) var body: any ResponseBodyWriter
  fileprivate let encoder: JSONEncoder

  /// Writes an event.
  ///
  /// - Parameters:
  ///   - message: Its data.
  ///   - name: The kind of event.
  ///   - id: The text that the client sends as `Last-Event-ID` when it comes back.
  /// - Throws: What writing throws, once the client is gone.
  mutating func write(_ message: some Encodable, name: String, id: String? = nil) async throws {
    let data = String(decoding: try encoder.encode(message), as: UTF8.self)
    let id = id.map { "id: \($0)\n" } ?? ""
    try await body.write(ByteBuffer(string: "event: \(name)\n\(id)data: \(data)\n\n"))
  }

  /// Writes a comment, which clients skip: it shows that both ends are still there.
  mutating func write(comment: String) async throws {
    try await body.write(ByteBuffer(string: ": \(comment)\n\n"))
  }
}

extension Response {
  /// A response that lasts until the client leaves or the service stops.
  ///
  /// - Parameters:
  ///   - observed: The observed sequence.
  ///   - interval: The longest wait for a change. A client that has left is noticed when it is written to.
  ///   - encoder: Writes messages.
  ///   - state: The state that the closure keeps from one call to the next.
  ///   - write: Writes what is new; called at once, after changes, and when there was none for an interval.
  /// - Returns: The response; nothing is observed before it is written.
  static func events<Observed: AsyncSequence & Sendable, State: Sendable>(
    of observed: Observed,
    every interval: Duration = .seconds(15),
    encoder: JSONEncoder,
    state: State,
    _ write: @escaping @Sendable (inout EventWriter, inout State) async throws -> Void
  ) -> Response {
    let body = ResponseBody { body in
      let ticks = Ticks(of: observed, every: interval)
      var writer = EventWriter(body: body, encoder: encoder)
      var state = state
      // A server that stops waits for its responses, so it is the stream that has to end.
      try await withGracefulShutdownHandler {
        for await _ in ticks.stream { try await write(&writer, &state) }
      } onGracefulShutdown: {
        ticks.finish()
      }
      try await body.finish(nil)
    }
    return Response(
      status: .ok,
      headers: [.contentType: "text/event-stream", .cacheControl: "no-cache"],
      body: body
    )
  }
}

/// Ticks when something observed may have changed, and after an interval.
///
/// Ticks that arrive while the last one is being handled are merged into one, so a slow iteration never falls behind.
private struct Ticks: Sendable {
  let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init<Observed: AsyncSequence & Sendable>(of observed: Observed, every interval: Duration) {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self,
      bufferingPolicy: .bufferingNewest(1)
    )
    // The observed sequence begins with an element: that is the first tick.
    let changes = Task {
      for try await _ in observed { continuation.yield() }
    }
    let beats = Task {
      while true {
        try await Task.sleep(for: interval)
        continuation.yield()
      }
    }
    continuation.onTermination = { _ in
      changes.cancel()
      beats.cancel()
    }
    self.stream = stream
    self.continuation = continuation
  }

  func finish() { continuation.finish() }
}
