import Foundation
import HTTPTypes
import ServiceLifecycleTestKit
import SwiftData
import Testing

@testable import Telemetry

@Suite struct `The example Telemetry` {
  private let noon = "2026-01-15T12:00:00.000Z"

  /// Readings of a device, one a minute from noon, as a request's body.
  private func batch(_ serial: String, _ values: [Double], metric: String = "temperature") -> String
  {
    let start = Date(timeIntervalSince1970: 1_768_478_400)
    let lines = values.enumerated().map { minute, value in
      let time = (start + Double(minute) * 60).formatted(.iso8601)
      return
        #"{"serial": "\#(serial)", "metric": "\#(metric)", "value": \#(value), "time": "\#(time)"}"#
    }
    return "[\(lines.joined(separator: ","))]"
  }

  @Test func `stores a batch and makes its devices`() async throws {
    let client = try TestClient()
    let answer = try await client.send(.post, "/readings", json: batch("a", [20, 81]))
    #expect(answer.status == .created)
    #expect(try answer.decode(StoredMessage.self).stored == 2)
    let devices = try await client.send(.get, "/devices").decode([DeviceMessage].self)
    #expect(devices.map(\.serial) == ["a"])
    #expect(devices.map(\.readings) == [2])
    #expect(devices.map(\.limit) == [80])
    let page = try await client.send(.get, "/readings?serial=a").decode(PageMessage.self)
    #expect(page.readings.map(\.value) == [81, 20])
    #expect(page.readings.map(\.isAlarm) == [true, false])
    #expect(page.readings.last?.time == TelemetryContext.time(noon))
    #expect(page.next == nil)
  }

  @Test(
    arguments: [
      "", "{}", "[{}]", #"[{"serial": "a"}]"#,
      #"[{"serial": "a", "metric": "m", "value": "warm"}]"#,
      #"[{"serial": "a", "metric": "m", "value": 1, "time": "noon"}]"#,
      #"[{"serial": "", "metric": "m", "value": 1}]"#,
      #"[{"serial": "a", "metric": "m", "value": 1}, {"serial": "a"}]"#,
    ]
  )
  func `refuses a batch with a mistake whole`(body: String) async throws {
    let client = try TestClient()
    #expect(try await client.send(.post, "/readings", json: body).status == .badRequest)
    #expect(try await client.send(.get, "/devices").decode([DeviceMessage].self).isEmpty)
  }

  @Test func `refuses a batch that is too large`() async throws {
    let body = "[" + String(repeating: " ", count: 1 << 20) + "]"
    let status = try await TestClient().send(.post, "/readings", json: body).status
    #expect(status == .contentTooLarge)
  }

  @Test(
    arguments: [
      "/readings?limit=0", "/readings?limit=501", "/readings?limit=ten", "/readings?after=x",
      "/readings?from=yesterday", "/hours?to=1", "/readings?alarms=maybe",
      "/readings?after=",
    ]
  )
  func `says what is wrong with a question`(path: String) async throws {
    let answer = try await TestClient().send(.get, path)
    #expect(answer.status == .badRequest)
    #expect(String(decoding: answer.body, as: UTF8.self).contains("expected"))
  }

  @Test func `answers 404 where there is nothing`() async throws {
    let client = try TestClient()
    #expect(try await client.send(.get, "/nothing").status == .notFound)
    #expect(try await client.send(.patch, "/devices/a", json: "{}").status == .notFound)
    let file = "/devices/a/attachments/manual"
    for method in [HTTPRequest.Method.get, .put, .delete] {
      #expect(try await client.send(method, file).status == .notFound)
    }
  }

  @Test func `pages through readings, also of one instant, while others arrive`() async throws {
    let client = try TestClient()
    for _ in 0..<3 {
      _ = try await client.send(
        .post,
        "/readings",
        json: batch("a", Array(repeating: 1, count: 15))
      )
      _ = try await client.send(.post, "/readings", json: batch("b", [2, 2]))
    }
    var numbers: [Int] = []
    var times: [Date] = []
    var path: String? = "/readings?serial=a&limit=7"
    while let next = path {
      let page = try await client.send(.get, next).decode(PageMessage.self)
      numbers += page.readings.map(\.number)
      times += page.readings.map(\.time)
      path = page.next.map { "/readings?serial=a&limit=7&after=\($0)" }
      // Newer than all: shifts nothing.
      _ = try await client.send(
        .post,
        "/readings",
        json: #"[{"serial": "a", "metric": "m", "value": 1}]"#
      )
    }
    #expect(numbers.count == 45)
    #expect(Set(numbers).count == 45)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 >= $1 })
  }

  @Test func `filters by device, metric, time and alarm`() async throws {
    let client = try TestClient()
    _ = try await client.send(.post, "/readings", json: batch("a", [20, 90, 30]))
    _ = try await client.send(.post, "/readings", json: batch("a", [40], metric: "humidity"))
    _ = try await client.send(.post, "/readings", json: batch("b", [50]))
    func values(_ query: String) async throws -> [Double] {
      try await client.send(.get, "/readings?" + query).decode(PageMessage.self).readings
        .map(\.value).sorted()
    }
    #expect(try await values("serial=a") == [20, 30, 40, 90])
    #expect(try await values("metric=humidity") == [40])
    #expect(try await values("serial=a&alarms=true") == [90])
    #expect(try await values("from=2026-01-15T12:01:00Z") == [30, 90])
    #expect(try await values("from=2026-01-15T12:01:00Z&to=2026-01-15T12:02:00Z") == [90])
    #expect(try await values("").count == 5)
  }

  @Test func `measures each hour`() async throws {
    let client = try TestClient()
    _ = try await client.send(.post, "/readings", json: batch("a", (0..<90).map(Double.init)))
    let hours = try await client.send(.get, "/hours?serial=a").decode([HourMessage].self)
    #expect(hours.map(\.count) == [60, 30])
    #expect(hours.map(\.minimum) == [0, 60])
    #expect(hours.map(\.average) == [29.5, 74.5])
    #expect(hours.map(\.maximum) == [59, 89])
    #expect(hours.first?.hour == TelemetryContext.time(noon))
  }

  @Test func `marks as alarms what is above a device's own limit`() async throws {
    let client = try TestClient()
    _ = try await client.send(.post, "/readings", json: batch("a", [30]))
    let change = try await client.send(
      .patch,
      "/devices/a",
      json: #"{"name": "Cellar", "limit": 25}"#
    )
    #expect(change.status == .noContent)
    _ = try await client.send(.post, "/readings", json: batch("a", [31]))
    let alarms = try await client.send(.get, "/readings?alarms=true").decode(PageMessage.self)
    #expect(alarms.readings.map(\.value) == [31])
    let devices = try await client.send(.get, "/devices").decode([DeviceMessage].self)
    #expect(devices.map(\.name) == ["Cellar"])
  }
}
