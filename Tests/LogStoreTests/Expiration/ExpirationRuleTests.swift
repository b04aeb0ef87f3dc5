import Foundation
import SwiftData
import Testing

@testable import LogStore

@Suite struct `A rule of expiration` {
  typealias Expiration = LogStoreConfiguration.Expiration

  struct Refused: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let expirations: [Expiration]
    let entity: String
    let words: [String]
  }

  static let refused = [
    Refused(
      testDescription: "a class of no schema",
      expirations: [.init(UnknownToAll.self, after: .zero, since: \.at)],
      entity: "UnknownToAll",
      words: ["schema (Bill, Clip, ", "found UnknownToAll", "add it"]
    ),
    Refused(
      testDescription: "a computed property",
      expirations: [.init(Aging.Pulse.self, after: .zero, since: \.computed)],
      entity: "Pulse",
      words: ["stored attribute of type Date", "computed"]
    ),
    Refused(
      testDescription: "a transient property",
      expirations: [.init(Aging.Pulse.self, after: .zero, since: \.transient)],
      entity: "Pulse",
      words: ["stored attribute of type Date", "transient"]
    ),
    Refused(
      testDescription: "a date of a related model",
      expirations: [.init(Aging.Part.self, after: .zero, since: \.engine.retiredAt)],
      entity: "Part",
      words: ["stored attribute of type Date", "attribute of Part itself"]
    ),
    Refused(
      testDescription: "a negative duration",
      expirations: [.init(Aging.Pulse.self, after: .seconds(-5), since: \.at)],
      entity: "Pulse",
      words: ["zero or more", "-5.0 seconds"]
    ),
    Refused(
      testDescription: "two rules for a class",
      expirations: [
        .init(Aging.GuidedVisit.self, after: .zero, since: \.at),
        .init(Aging.GuidedVisit.self, after: .zero, since: \.endedAt),
      ],
      entity: "GuidedVisit",
      words: ["one rule for each class", "another, by at"]
    ),
  ]

  @Test(arguments: refused)
  func `is refused, and the error says what was expected and found`(_ refused: Refused) throws {
    let store = try AgingStore()
    let error = #expect(throws: LogStoreError.self) {
      try store.open(store.configuration(refused.expirations))
    }
    guard case .expiration(refused.entity, _, _) = error else {
      Issue.record("found \(String(describing: error))")
      return
    }
    let text = "\(try #require(error))"
    for words in refused.words { #expect(text.contains(words), "\(text)") }
    // Nothing was made.
    #expect(!FileManager.default.fileExists(atPath: store.url.path))
  }

  @Test func `may be made of a subclass beside its superclass`() throws {
    let store = try AgingStore()
    _ = try store.open(
      .init(Aging.Visit.self, after: AgingStore.month, since: \.at),
      .init(Aging.GuidedVisit.self, after: .zero, since: \.endedAt)
    )
  }
}

@Model private final class UnknownToAll {
  var at: Date = Date.distantPast

  init() {}
}

@Suite struct `The schedule of expiration` {
  @Test func `looks first after a second, and then at the interval`() {
    var schedule = ExpirationSchedule(interval: .seconds(60), 5_000_000)
    #expect(!schedule.isDue(5_999_999))
    #expect(schedule.delay(5_400_000) == 600_000)
    #expect(schedule.isDue(6_000_000))
    #expect(schedule.delay(7_000_000) == 0)
    schedule.passEnded(fruitless: .milliseconds(1), 7_000_000)
    #expect(schedule.delay(7_000_000) == 60_000_000)
  }

  @Test func `waits a hundred times as long as a look took that was in vain`() {
    var schedule = ExpirationSchedule(interval: .seconds(60), 0)
    schedule.passEnded(fruitless: .seconds(2), 10)
    #expect(schedule.delay(10) == 200_000_000)
    schedule.passEnded(fruitless: .seconds(Int64.max), 10)
    #expect(schedule.delay(10) > 200_000_000)
  }

  @Test func `pauses between batches for as long as they take`() {
    var schedule = ExpirationSchedule(interval: .seconds(60), 0)
    schedule.batchEnded(took: 30_000, 100)
    #expect(schedule.delay(100) == 30_000)
    schedule.batchEnded(took: 3, 100)
    #expect(schedule.delay(100) == 1000)
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .nanoseconds(1)])
  func `never spins`(interval: Duration) {
    var schedule = ExpirationSchedule(interval: interval, 0)
    schedule.passEnded(fruitless: .zero, 0)
    #expect(schedule.delay(0) == 10_000)
  }
}
