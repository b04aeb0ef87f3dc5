import Foundation
import ModelRuntime

/// An app that changes journeys and their legs at random.
struct RandomApp {
  private let context: ModelContext
  private var random: SeededGenerator
  private var number = 0

  init(_ container: ModelContainer, seed: UInt64) {
    context = ModelContext(container)
    random = SeededGenerator(seed: seed)
  }

  /// Makes a few changes, and saves them.
  mutating func save() throws {
    for _ in 0..<Int.random(in: 1...4, using: &random) { try change() }
    try context.save()
  }

  private mutating func change() throws {
    let journeys = try context.fetch(FetchDescriptor<Journey>(sortBy: [SortDescriptor(\.code)]))
    guard let journey = journeys.randomElement(using: &random), journeys.count > 5 else {
      return insert()
    }
    switch Int.random(in: 0..<(journeys.count > 40 ? 7 : 9), using: &random) {
    case 0: context.delete(journey)
    case 1:
      // A unique value changes hands.
      guard let other = journeys.randomElement(using: &random) else { return }
      (journey.code, other.code) = (other.code, journey.code)
    case 2: journey.map = bytes()
    case 3:
      journey.legs.insert(Leg("leg \(next())"), at: 0)
      if let leg = journeys.randomElement(using: &random)?.legs.last { journey.legs.append(leg) }
    case 4: if let leg = journey.legs.last { context.delete(leg) }
    case 5:
      journey.title = "title \(next())"
      journey.rating = Double(next()) / 4
      journey.ends = Bool.random(using: &random) ? journey.begins : nil
    case 6:
      journey.budget = Decimal(next()) / 100
      journey.stops.append(
        Stop(place: "stop", nights: next(), price: 0.5, day: journey.begins, ticket: Data([1]))
      )
    default: insert()
    }
  }

  private mutating func insert() {
    let journey = Journey("journey \(next())")
    journey.map = bytes()
    journey.legs = [Leg("leg \(next())"), Leg("leg \(next())")]
    context.insert(journey)
  }

  private mutating func next() -> Int {
    number += 1
    return number
  }

  private mutating func bytes() -> Data? {
    let length = [nil, 10, 70_000, 150_000].randomElement(using: &random) ?? nil
    let seed = next()
    return length.map { Data((0..<$0).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ seed) }) }
  }
}
