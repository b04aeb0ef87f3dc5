import Foundation
import SwiftData
import Testing

@testable import Telemetry

/// A folder for one test, removed when the test lets go of it.
private final class TestFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "telemetry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}

@Suite struct `The store of the example Telemetry` {
  private let folder: TestFolder
  private let url: URL

  init() throws {
    folder = try TestFolder()
    url = folder.url.appending(path: "telemetry.store")
  }

  @Test(arguments: [0, 1, 300_000]) func `keeps attachments`(byteCount: Int) async throws {
    let bytes = Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let file = "/devices/a/attachments/manual.pdf"
    var client = try TestClient(at: url)
    _ = try await client.send(
      .post,
      "/readings",
      json: #"[{"serial": "a", "metric": "m", "value": 1}]"#
    )
    for content in [Data("old".utf8), bytes] {
      let put = try await client.send(
        .put,
        file,
        headers: [.contentType: "application/pdf"],
        body: content
      )
      #expect(put.status == .noContent)
    }
    try await client.service.container.close()

    client = try TestClient(at: url)
    let kept = try await client.send(.get, file)
    #expect(kept.body == bytes)
    #expect(kept.headers[.contentType] == "application/pdf")
    let devices = try await client.send(.get, "/devices").decode([DeviceMessage].self)
    #expect(devices.map(\.attachments) == [["manual.pdf"]])
    #expect(try await client.send(.delete, file).status == .noContent)
    #expect(try await client.send(.get, file).status == .notFound)
    try await client.service.container.close()
  }

  @Test func `removes readings that are too old, and never gives a number twice`() async throws {
    let client = try TestClient(at: url)
    let ingestor = client.service.ingestor
    func reading(_ value: Double, days: Double) -> NewReading {
      NewReading(serial: "a", metric: "m", value: value, time: .now - days * 86_400)
    }
    let readings = [reading(1, days: 91), reading(2, days: 89), reading(3, days: 90.1)]
    #expect(try await ingestor.store(readings) == 3)
    for store in client.service.container.stores(of: LogStore.self) {
      #expect(try await store.expire().map(\.deletedCount) == [2])
    }
    #expect(try await ingestor.store([reading(4, days: 0)]) == 1)
    let page = try await client.send(.get, "/readings").decode(PageMessage.self)
    #expect(page.readings.map(\.number) == [4, 2])
    try await client.service.container.close()
  }

  @Test func `refuses an attachment that is too large`() async throws {
    let client = try TestClient()
    let body = Data(count: TelemetryService.largestFile + 1)
    let status = try await client.send(.put, "/devices/a/attachments/x", body: body).status
    #expect(status == .contentTooLarge)
  }

  @Test func `is migrated from the first release, and goes on counting`() async throws {
    let noon = Date(timeIntervalSince1970: 1_768_478_400)
    let old = try ModelContainer(
      for: Schema(versionedSchema: TelemetryV1.self),
      configurations: [LogStoreConfiguration("telemetry", url: url)]
    )
    try await old.write { context in
      context.insert(TelemetryV1.Device(serial: "a", name: "Cellar"))
      for number in 1...100 {
        context.insert(
          TelemetryV1.Reading(
            number: number,
            serial: "a",
            time: noon + Double(number),
            celsius: Double(number)
          )
        )
      }
    }
    try await old.close()

    let client = try TestClient(at: url)
    _ = try await client.send(
      .post,
      "/readings",
      json: #"[{"serial": "a", "metric": "humidity", "value": 40}]"#
    )
    let newest = try await client.send(.get, "/readings?limit=2").decode(PageMessage.self)
    #expect(newest.readings.map(\.number) == [101, 100])
    #expect(newest.readings.map(\.metric) == ["humidity", "temperature"])
    #expect(newest.readings.map(\.value) == [40, 100])
    let alarms = try await client.send(.get, "/readings?alarms=true").decode(PageMessage.self)
    #expect(alarms.readings.map(\.number) == Array((81...100).reversed()))
    let devices = try await client.send(.get, "/devices").decode([DeviceMessage].self)
    #expect(devices.map(\.name) == ["Cellar"])
    #expect(devices.map(\.limit) == [80])
    try await client.service.container.close()

    // The old release leaves alone what it does not understand.
    #expect(throws: SwiftDataError.backwardMigration) {
      try ModelContainer(
        for: Schema(versionedSchema: TelemetryV1.self),
        configurations: [LogStoreConfiguration("telemetry", url: url)]
      )
    }
  }
}
