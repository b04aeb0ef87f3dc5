// swift-format-ignore-file: NeverForceUnwrap
// The forced unwraps below are part of what is tested.

import Foundation
import Testing

@testable import ModelRuntime

struct Place: Codable, Hashable {
  var street: String
  var city: String?
  var number: Int
  var grade: Grade = .second
  var position: Position?
}

struct Position: Codable, Hashable {
  var latitude: Double
  var longitude: Double
}

/// Ordered against its raw values.
enum Grade: Int, Codable, CaseIterable, Comparable {
  case first = 1
  case second, third

  static func < (lhs: Grade, rhs: Grade) -> Bool { lhs.rawValue > rhs.rawValue }
}

enum Shape: Codable, Hashable {
  case circle(radius: Double)
  case square(side: Double)
  case none
}

/// Equal regardless of case, unlike its raw value.
struct Code: RawRepresentable, Codable, Hashable {
  var rawValue: String

  static func == (lhs: Code, rhs: Code) -> Bool {
    lhs.rawValue.lowercased() == rhs.rawValue.lowercased()
  }
  func hash(into hasher: inout Hasher) { hasher.combine(rawValue.lowercased()) }
}

@Model final class Purchase {
  var place: Place
  var second: Place?
  var price: Decimal
  var tags: [String]
  var numbers: Set<Int>
  var shape: Shape
  var grade: Grade
  var best: Grade?
  var code: Code
  var amounts: [String: Int]
  var origin: PersistentIdentifier?
  var buyer: Label?

  init(_ generator: inout SeededGenerator, origin: [PersistentIdentifier]) {
    func place() -> Place {
      Place(
        street: generator.pick(Samples.texts),
        city: generator.pick(["Lisbon", "Oslo", nil]),
        number: generator.pick([1, 2, 3]),
        grade: generator.pick(Grade.allCases),
        position: generator.pick([nil, Position(latitude: 1, longitude: 2.5)])
      )
    }
    self.place = place()
    second = generator.next() % 2 == 0 ? place() : nil
    price = generator.pick([Decimal(0), 1, Decimal(string: "12.10") ?? 0, -3])
    tags = generator.pick([[], ["a"], ["a", "b"], ["é"]])
    numbers = generator.pick([[], [1], [1, 2, 3]])
    shape = generator.pick([.none, .circle(radius: 1), .square(side: 1), .square(side: 2)])
    grade = generator.pick(Grade.allCases)
    best = generator.pick(Grade.allCases + [nil])
    code = Code(rawValue: generator.pick(["x", "X", "y"]))
    amounts = generator.pick([[:], ["a": 1], ["a": 2, "b": 1]])
    self.origin = generator.pick(origin + [nil])
  }
}

@Suite struct `A predicate over composite values` {
  static let questions: [Question<Purchase>] = {
    let twelve = Decimal(string: "12.1") ?? 0
    let square = Shape.square(side: 2)
    let none = Shape.none
    let code = Code(rawValue: "x")
    let third = Grade.third
    let prices = [twelve, 0]
    let place = Place(street: "a", number: 1)
    let tags = ["a"]
    return [
      Question("field", #Predicate { $0.place.number == 2 }),
      Question("optional field", #Predicate { $0.place.city == "Oslo" }),
      Question("optional field == nil", #Predicate { $0.place.city == nil }),
      Question("text of a field", #Predicate { $0.place.street.contains("a") }),
      Question("field of an optional", #Predicate { $0.second?.number == 2 }),
      Question("field of an optional ??", #Predicate { ($0.second?.street ?? "b") > "c" }),
      Question("optional == nil", #Predicate { $0.second == nil }),
      Question("optional != nil", #Predicate { $0.second != nil }),
      Question("nested field", #Predicate { $0.place.position?.latitude == 1 }),
      Question("nested field of an optional", #Predicate { $0.second?.position?.longitude == 2.5 }),
      Question("forced", #Predicate { $0.second!.number > 1 }),
      Question(
        "if let",
        #Predicate { purchase in
          if let other = purchase.second { other.number > purchase.place.number } else { false }
        }
      ),
      Question("whole", #Predicate { $0.place == place }),
      Question("two wholes", #Predicate { ($0.second ?? place) == $0.place }),
      Question("Decimal", #Predicate { $0.price == twelve }),
      Question("Decimal order", #Predicate { $0.price < twelve }),
      Question("Decimal sum", #Predicate { $0.price * 2 - 1 > twelve }),
      Question("Decimal minus", #Predicate { -$0.price > 1 }),
      Question("Decimals", #Predicate { prices.contains($0.price) }),
      Question("array count", #Predicate { $0.tags.count > 1 }),
      Question("array isEmpty", #Predicate { $0.tags.isEmpty }),
      Question("array contains", #Predicate { $0.tags.contains("a") }),
      Question("array contains a column", #Predicate { $0.tags.contains($0.place.street) }),
      Question("set contains", #Predicate { $0.numbers.contains($0.place.number) }),
      Question("payload", #Predicate { $0.shape == square }),
      Question("no payload", #Predicate { $0.shape != none }),
      Question("order of an enumeration", #Predicate { $0.grade < third }),
      Question("order of enumerations", #Predicate { $0.grade < $0.place.grade }),
      Question("equal enumerations", #Predicate { $0.grade == $0.place.grade }),
      Question("enumeration in a composite", #Predicate { $0.place.grade == third }),
      Question("enumeration in a composite, raw", #Predicate { $0.place.grade.rawValue > 1 }),
      Question("optional enumeration", #Predicate { ($0.best ?? third) >= $0.grade }),
      Question("optional enumeration ==", #Predicate { $0.best == third }),
      Question("own ==", #Predicate { $0.code == code }),
      Question("dictionary", #Predicate { $0.amounts["a"] == 1 }),
      Question("dictionary, missing", #Predicate { $0.amounts["c"] == nil }),
      Question("through a reference", #Predicate { $0.buyer?.name == "a" && $0.place.number > 1 }),
    ]
  }()

  private func purchases(seed: UInt64) throws -> RandomItems {
    var generator = SeededGenerator(seed: seed)
    let world = try RandomItems(count: 2, seed: seed)
    let origins = world.items.map(\.persistentModelID)
    let purchases = (0..<60).map { _ in
      let purchase = Purchase(&generator, origin: origins)
      purchase.buyer = generator.pick(world.labels + [nil])
      return purchase
    }
    return try world.adding(purchases)
  }

  @Test(arguments: questions)
  func `says what it says of objects`(_ question: Question<Purchase>) throws {
    for seed in 1...2 {
      try expectAgreement(question.predicate, in: purchases(seed: UInt64(seed)))
    }
  }

  @Test func `compares identifiers that are attributes`() throws {
    let world = try purchases(seed: 3)
    let one = world.items[0].persistentModelID
    let other = Item(number: 3).persistentModelID
    let none: PersistentIdentifier? = nil
    for predicate: Predicate<Purchase> in [
      #Predicate { $0.origin == one }, #Predicate { $0.origin != one },
      #Predicate { $0.origin == other }, #Predicate { $0.origin == none },
    ] {
      try expectAgreement(predicate, in: world)
    }
  }

  @Test func `is left to objects where a list of values has a closure`() {
    #expect(throws: Untranslatable.self) {
      try QueryExpression(#Predicate<Purchase> { $0.tags.contains { $0 == "a" } })
    }
  }
}
