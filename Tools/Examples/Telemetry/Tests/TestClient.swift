import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOEmbedded
import SwiftData

@testable import Telemetry

/// Sends requests to the service's router, without a server between.
struct TestClient: Sendable {
  let service: TelemetryService
  private let responder: any HTTPResponder<TelemetryContext>

  /// A client of a service in memory, or over a store's folder.
  init(at url: URL? = nil) throws {
    try self.init(TelemetryService(ModelContainer.telemetry(at: url)))
  }

  init(_ service: TelemetryService) {
    self.service = service
    responder = service.router().buildResponder()
  }

  struct Answer {
    var status: HTTPResponse.Status
    var headers: HTTPFields
    var body: Data

    func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
      let decoder = JSONDecoder()
      decoder.dateDecodingStrategy = .custom { decoder in
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let time = TelemetryContext.time(text) else { throw CocoaError(.coderReadCorrupt) }
        return time
      }
      return try decoder.decode(type, from: body)
    }
  }

  func send(
    _ method: HTTPRequest.Method,
    _ path: String,
    headers: HTTPFields = [:],
    body: Data = Data()
  ) async throws -> Answer {
    let response = try await respond(method, path, headers: headers, body: body)
    let text = Chunks()
    try await response.body.write(ChunkWriter(chunks: text))
    text.finish()
    var bytes = Data()
    for await chunk in text.stream { bytes += chunk }
    return Answer(status: response.status, headers: response.headers, body: bytes)
  }

  func send(_ method: HTTPRequest.Method, _ path: String, json: String) async throws -> Answer {
    try await send(method, path, body: Data(json.utf8))
  }

  /// Reads a stream of events until the closure has seen enough, and then leaves.
  func listen<Value: Sendable>(
    _ path: String,
    headers: HTTPFields = [:],
    _ body: (inout AsyncStream<String>.Iterator) async throws -> Value
  ) async throws -> Value {
    let response = try await respond(.get, path, headers: headers, body: Data())
    let chunks = Chunks()
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { chunks.finish() }
        try await response.body.write(ChunkWriter(chunks: chunks))
      }
      var iterator = chunks.texts.makeAsyncIterator()
      let value = try await body(&iterator)
      group.cancelAll()
      return value
    }
  }

  private func respond(
    _ method: HTTPRequest.Method,
    _ path: String,
    headers: HTTPFields,
    body: Data
  ) async throws -> Response {
    let request = Request(
      head: HTTPRequest(
        method: method,
        scheme: "http",
        authority: "localhost",
        path: path,
        headerFields: headers
      ),
      body: RequestBody(buffer: ByteBuffer(bytes: body))
    )
    let source = ApplicationRequestContextSource(
      channel: EmbeddedChannel(),
      logger: Logger(label: "test")
    )
    return try await responder.respond(to: request, context: TelemetryContext(source: source))
  }
}

/// The body of a response, chunk by chunk.
private struct Chunks: Sendable {
  let stream: AsyncStream<Data>
  private let continuation: AsyncStream<Data>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  var texts: AsyncStream<String> {
    let stream = stream
    return AsyncStream { continuation in
      let forwarding = Task {
        for await chunk in stream { continuation.yield(String(decoding: chunk, as: UTF8.self)) }
        continuation.finish()
      }
      continuation.onTermination = { _ in forwarding.cancel() }
    }
  }

  func yield(_ data: Data) { continuation.yield(data) }
  func finish() { continuation.finish() }
}

private struct ChunkWriter: ResponseBodyWriter {
  let chunks: Chunks

  func write(_ buffer: ByteBuffer) async throws { chunks.yield(Data(buffer: buffer)) }
  func finish(_ trailers: HTTPFields?) async throws {}
}
