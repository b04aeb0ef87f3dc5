import Foundation
import ModelRuntime
import PostgresStore
import Testing

@Suite struct `Values on a PostgreSQL server` {
  @Test func `come back as they were saved`() throws {
    let namespace = try TestNamespace()
    let stop = Stop(
      place: "Zürich \"HB\" \\ \u{1F682}\n",
      nights: .max,
      price: 1e300,
      day: Date(timeIntervalSinceReferenceDate: 0.1),
      ticket: Data([0, 1, 255])
    )
    let odd = Stop(
      place: "nothing\u{0}here",
      nights: -1,
      price: .infinity,
      day: .distantPast,
      ticket: Data()
    )
    let map = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0) })
    do {
      let context = ModelContext(try namespace.container(Journey.self, Leg.self))
      let journey = Journey("values", title: "e\u{301}")
      journey.budget = try #require(Decimal(string: "12345678901234567890.125"))
      journey.rating = -.infinity
      journey.stops = [stop, odd]
      journey.codes = [1: "one", -7: "minus seven"]
      journey.map = map
      context.insert(journey)
      try context.save()
    }
    let context = ModelContext(try namespace.container(Journey.self, Leg.self))
    let journey = try #require(try context.fetch(FetchDescriptor<Journey>()).first)
    #expect(Array(journey.title.unicodeScalars) == Array("e\u{301}".unicodeScalars))
    #expect(journey.budget == Decimal(string: "12345678901234567890.125"))
    #expect(journey.rating == -.infinity)
    #expect(journey.stops == [stop, odd])
    #expect(journey.codes == [1: "one", -7: "minus seven"])
    #expect(journey.map == map)
  }

  @Test func `that are NaN come back in columns and in composites`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let context = ModelContext(container)
    let journey = Journey("nan")
    journey.rating = .nan
    journey.stops = [Stop(place: "", nights: 0, price: .nan, day: .now, ticket: Data())]
    context.insert(journey)
    try context.save()
    let read = try #require(try ModelContext(container).fetch(FetchDescriptor<Journey>()).first)
    #expect(read.rating.isNaN)
    #expect(read.stops[0].price.isNaN)
  }

  @Test(
    arguments: [0, 0.000_000_4, 0.1, 812_345_678.123_456_7, -63_114_076_800.3, 6.4e10] as [Double]
  )
  func `that are dates are rounded to microseconds before the save`(seconds: Double) throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let context = ModelContext(container)
    let journey = Journey("date")
    journey.begins = Date(timeIntervalSinceReferenceDate: seconds)
    journey.ends = journey.begins
    context.insert(journey)
    try context.save()
    #expect(abs(journey.begins.timeIntervalSinceReferenceDate - seconds) <= 0.000_000_6)
    let read = try #require(try ModelContext(container).fetch(FetchDescriptor<Journey>()).first)
    // Memory and store agree, to the last bit.
    #expect(read.begins == journey.begins)
    #expect(read.ends == journey.ends)
    let begins = journey.begins
    let same = #Predicate<Journey> { $0.begins == begins }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor(predicate: same)) == 1)
  }

  @Test func `that the server cannot keep are refused with their names`() throws {
    let namespace = try TestNamespace()
    let context = ModelContext(try namespace.container(Journey.self, Leg.self))
    context.insert(Journey("bad", title: "a\u{0}b"))
    let error = try #require(throws: PostgresStoreError.self) { try context.save() }
    guard case .unstorableValue("Journey", "title", _, _) = error else {
      Issue.record("\(error)")
      return
    }
    context.rollback()
    let late = Journey("late")
    late.begins = Date(timeIntervalSinceReferenceDate: 1e14)
    context.insert(late)
    #expect(throws: PostgresStoreError.self) { try context.save() }
  }

  @Test func `of external storage are read when they are touched`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let context = ModelContext(container)
    let journey = Journey("map")
    journey.map = Data(repeating: 7, count: 100_000)
    context.insert(journey)
    try context.save()
    let other = ModelContext(container)
    let store = try #require(container.stores(of: PostgresStore.self).first)
    let read = try #require(try other.fetch(FetchDescriptor<Journey>()).first)
    let before = store.roundTripCount
    #expect(read.title == "")
    #expect(store.roundTripCount == before)
    #expect(read.map == journey.map)
    #expect(store.roundTripCount == before + 1)
    read.title = "changed"
    try other.save()
    let last = try #require(try ModelContext(container).fetch(FetchDescriptor<Journey>()).first)
    #expect(last.map == journey.map)
    #expect(last.title == "changed")
  }
}
