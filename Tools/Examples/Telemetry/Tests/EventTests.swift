import Foundation
import HTTPTypes
import Hummingbird
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import SwiftData
import Testing

@testable import Telemetry

@Suite struct `The events of the example Telemetry` {
  private func post(_ values: [Double], to client: TestClient) async throws {
    let readings = values.map { #"{"serial": "a", "metric": "m", "value": \#($0)}"# }
    let answer = try await client.send(
      .post,
      "/readings",
      json: "[\(readings.joined(separator: ","))]"
    )
    #expect(answer.status == .created)
  }

  /// The events up to one of a value, as their values and ids; comments are skipped.
  private func events(
    upTo value: Double,
    _ chunks: inout AsyncStream<String>.Iterator
  ) async throws -> [(value: Double, id: String?)] {
    var events: [(value: Double, id: String?)] = []
    while let chunk = await chunks.next() {
      let lines = chunk.split(separator: "\n")
      guard lines.first == "event: reading" else { continue }
      let data = try #require(lines.first { $0.hasPrefix("data: ") }).dropFirst(6)
      let reading = try TestClient.Answer(status: .ok, headers: [:], body: Data(data.utf8))
        .decode(ReadingMessage.self)
      let id = lines.first { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
      events.append((reading.value, id))
      if reading.value == value { break }
    }
    return events
  }

  @Test func `tell of each reading that is saved, once`() async throws {
    let client = try TestClient()
    try await post([0], to: client)
    let values = try await client.listen("/events") { chunks in
      // Readings from before are no news.
      #expect(await chunks.next()?.hasPrefix(":") == true)
      for batch in 1...20 { try await post([Double(batch), Double(batch) + 0.5], to: client) }
      return try await events(upTo: 20.5, &chunks).map(\.value)
    }
    let expected: [Double] = (2...41).map { Double($0) / 2 }
    #expect(values == expected)
  }

  @Test func `go on behind the last one that a client has seen`() async throws {
    let client = try TestClient()
    let id = try await client.listen("/events") { chunks in
      _ = await chunks.next()
      try await post([1, 2], to: client)
      let first = try await events(upTo: 2, &chunks)
      // Within a save there is no place to continue from.
      #expect(first.map { $0.id == nil } == [true, false])
      return try #require(first.last?.id)
    }
    try await post([3], to: client)
    let missed = try await client.listen("/events", headers: [.lastEventID: id]) { chunks in
      try await events(upTo: 3, &chunks).map(\.value)
    }
    #expect(missed == [3])
  }

  @Test func `refuse a place that is none`() async throws {
    let answer = try await TestClient().send(.get, "/events", headers: [.lastEventID: "yesterday"])
    #expect(answer.status == .badRequest)
  }

  @Test func `tell a client to begin anew whose place is no longer in the history`() async throws {
    let client = try TestClient()
    try await post([1], to: client)
    let feed = ReadingFeed(container: client.service.container)
    let place = try #require(try await feed.end())
    try await post([2], to: client)
    try await client.service.container.read { context in
      try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }
    let first = try await client.listen(
      "/events",
      headers: [.lastEventID: place.description]
    ) { chunks in
      await chunks.next()
    }
    #expect(first?.hasPrefix("event: reset\n") == true)
  }

  @Test func `show the newest alarms`() async throws {
    let client = try TestClient()
    func board(_ chunk: String?) throws -> [Double] {
      let chunk = try #require(chunk)
      try #require(chunk.hasPrefix("event: alarms\ndata: "))
      return try TestClient.Answer(status: .ok, headers: [:], body: Data(chunk.dropFirst(20).utf8))
        .decode([ReadingMessage].self)
        .map(\.value)
    }
    try await client.listen("/alarms") { chunks in
      #expect(try board(await chunks.next()) == [])
      try await post([20, 81], to: client)
      #expect(try board(await chunks.next()) == [81])
      try await post([90], to: client)
      #expect(try board(await chunks.next()) == [90, 81])
    }
  }

  @Test(arguments: ["/events", "/alarms"])
  func `end when the service is to stop`(path: String) async throws {
    try await testGracefulShutdown { trigger in
      let client = try TestClient()
      try await client.listen(path) { chunks in
        #expect(await chunks.next() != nil)
        trigger.triggerGracefulShutdown()
        while await chunks.next() != nil {}
      }
    }
  }
}
