import Foundation
import ModelRuntime

/// Models with attributes of every kind, for batches that change them.
enum Assigned {
  enum Grade: String, Codable, CaseIterable { case low, middle, high }

  struct Spot: Codable, Hashable {
    var x: Int
    var name: String?
  }

  @Model class Sample {
    var serial: Int
    var tiny: Int8 = 0
    var small: Int16 = 0
    var medium: Int32 = 0
    var large = 0
    var unsignedTiny: UInt8 = 0
    var unsignedMedium: UInt32 = 0
    var unsignedLarge: UInt64 = 0
    var optionalSmall: Int16?
    var optionalLarge: Int?
    var float: Float = 0
    var double = 0.0
    var optionalFloat: Float?
    var optionalDouble: Double?
    var text = ""
    var note: String?
    var day = Date(timeIntervalSinceReferenceDate: 0)
    var later: Date?
    var isGood = false
    var tag: UUID?
    var bytes = Data()
    var grade = Grade.low
    var address: URL?
    var price: Decimal = 0
    var spot: Spot?
    var numbers: [Int] = []
    @Attribute(.externalStorage) var picture: Data?
    @Attribute(.unique) var code: String?
    @Attribute(.unique) var rank: Int?
    var place: Place?

    init(_ serial: Int) { self.serial = serial }
  }

  @Model final class FineSample: Sample {
    var fineness = 0
    var hint: String?

    init(_ serial: Int, fineness: Int) {
      self.fineness = fineness
      super.init(serial)
    }
  }

  @Model final class Place {
    var name: String
    @Relationship(inverse: \Sample.place) var samples: [Sample] = []
    init(_ name: String) { self.name = name }
  }

  static let schema = Schema([Sample.self, FineSample.self, Place.self])
}

extension Assigned.Sample {
  /// Not stored: a predicate that reads it needs objects.
  var isEven: Bool { serial % 2 == 0 }
}

/// Draws batches.
struct AssignmentGenerator {
  typealias Sample = Assigned.Sample
  var random: SeededGenerator

  mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }
  mutating func chance(_ one: Int) -> Bool { number(1...one) == 1 }

  /// A number that is small, or at an end of its type.
  mutating func integer<T: FixedWidthInteger>(_: T.Type = T.self) -> T {
    switch number(0...9) {
    case 0: .max
    case 1: .min
    case 2: .max - 1
    default: T(truncatingIfNeeded: T.isSigned ? number(-3...3) : number(0...3))
    }
  }

  mutating func double() -> Double {
    let special: [Double] = [
      .infinity, -.infinity, .nan, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
      .leastNonzeroMagnitude, -0.0, 1e300, 0.1,
    ]
    return chance(3)
      ? special[number(0...(special.count - 1))] : Double.random(in: -10...10, using: &random)
  }

  mutating func float() -> Float {
    let special: [Float] = [
      .infinity, .nan, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
      .leastNonzeroMagnitude, -0.0, 0.1, 16_777_216,
    ]
    return chance(3)
      ? special[number(0...(special.count - 1))] : Float.random(in: -10...10, using: &random)
  }

  mutating func text() -> String {
    let texts = ["", "a", "A\u{301}", "Á", "naïve \"quoted\" \\ 'text'", "🚀", "with\u{0}zero"]
    return chance(4)
      ? String(repeating: "long ", count: number(1...800)) : texts[number(0...(texts.count - 1))]
  }

  mutating func date() -> Date {
    let seconds = [0, 0.1, 700_000_000.123_456_7, -1e12, 1e10, .infinity, -.infinity, 1e15]
    return Date(timeIntervalSinceReferenceDate: seconds[number(0...(seconds.count - 1))])
  }

  mutating func uuid() -> UUID {
    withUnsafeBytes(of: (random.next(), random.next())) { UUID(uuid: $0.load(as: uuid_t.self)) }
  }

  mutating func data() -> Data {
    let count = chance(8) ? number(0...9000) : number(0...20)
    return Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
  }

  mutating func optional<T>(_ value: (inout Self) -> T) -> T? {
    chance(4) ? nil : value(&self)
  }

  /// The number of the attributes that ``assignment(_:)`` knows.
  static let kindCount = 40

  /// An assignment to an attribute, one attribute for each number.
  mutating func assignment(_ kind: Int, _ place: Assigned.Place?) -> BatchAssignment<Sample> {
    switch kind {
    case 0: chance(2) ? .add(integer(), to: \.tiny) : .set(\.tiny, to: integer())
    case 1: chance(2) ? .add(integer(), to: \.small) : .set(\.small, to: integer())
    case 2: chance(2) ? .add(integer(), to: \.medium) : .set(\.medium, to: integer())
    case 3: chance(2) ? .add(integer(), to: \.large) : .set(\.large, to: integer())
    case 4: chance(2) ? .add(integer(), to: \.unsignedTiny) : .set(\.unsignedTiny, to: integer())
    case 5:
      chance(2) ? .add(integer(), to: \.unsignedMedium) : .set(\.unsignedMedium, to: integer())
    case 6: chance(2) ? .add(integer(), to: \.unsignedLarge) : .set(\.unsignedLarge, to: integer())
    case 7:
      chance(2)
        ? .add(integer(Int16.self), to: \.optionalSmall)
        : .set(\.optionalSmall, to: optional { $0.integer() })
    case 8:
      chance(2)
        ? .add(integer(Int.self), to: \.optionalLarge)
        : .set(\.optionalLarge, to: optional { $0.integer() })
    case 9, 30, 31: chance(2) ? .add(float(), to: \.float) : .set(\.float, to: float())
    case 10, 32, 33: chance(2) ? .add(double(), to: \.double) : .set(\.double, to: double())
    case 11:
      chance(2)
        ? .add(float(), to: \.optionalFloat) : .set(\.optionalFloat, to: optional { $0.float() })
    case 12:
      chance(2)
        ? .add(double(), to: \.optionalDouble)
        : .set(\.optionalDouble, to: optional { $0.double() })
    case 13: .set(\.text, to: text())
    case 14: .set(\.note, to: optional { $0.text() })
    case 15: .set(\.day, to: date())
    case 16: .set(\.later, to: optional { $0.date() })
    case 17: .set(\.isGood, to: chance(2))
    case 18: .set(\.tag, to: optional { $0.uuid() })
    case 19: .set(\.bytes, to: data())
    case 20: .set(\.grade, to: Assigned.Grade.allCases[number(0...2)])
    case 21:
      .set(\.address, to: chance(4) ? nil : URL(string: "https://example.org/\(number(0...9))"))
    case 22: .set(\.price, to: Decimal(number(-1000...1000)) / 100)
    case 23: .set(\.spot, to: optional { Assigned.Spot(x: $0.number(0...9), name: $0.text()) })
    case 24: .set(\.numbers, to: (0..<number(0...4)).map { $0 * 7 })
    case 25: .set(\.picture, to: optional { $0.data() })
    case 26: .set(\.code, to: optional { "\($0.number(0...5))" })
    case 27: chance(2) ? .add(1, to: \.rank) : .set(\.rank, to: optional { $0.number(0...5) })
    case 28: .set(\.place, to: chance(3) ? nil : place)
    case 29: .change(\.serial) { $0 + 100 }
    default: chance(2) ? .add(1, to: \.large) : .set(\.large, to: number(-5...5))
    }
  }

  /// Attributes of different numbers may be one: those of a batch are different.
  private static func attribute(_ kind: Int) -> Int {
    switch kind {
    case 30, 31: 9
    case 32, 33: 10
    case 34...: 3
    default: kind
    }
  }

  /// Some assignments to different attributes.
  mutating func assignments(_ place: Assigned.Place?) -> [BatchAssignment<Sample>] {
    var known: Set<Int> = []
    return (0..<number(1...3)).compactMap { _ in
      let kind = number(0...(Self.kindCount - 1))
      return known.insert(Self.attribute(kind)).inserted ? assignment(kind, place) : nil
    }
  }

  mutating func predicate() -> Predicate<Sample>? {
    let (number, half) = (number(0...40), number(0...20))
    return switch self.number(0...6) {
    case 0: nil
    case 1: #Predicate { $0.serial < number }
    case 2: #Predicate { $0.serial == number }
    case 3: #Predicate { $0.isGood || $0.tiny > 0 }
    // SQL leaves arithmetic to Swift.
    case 4: #Predicate { $0.serial > half && $0.double * 2 < 5 }
    case 5: #Predicate { $0.isEven }
    default: #Predicate { $0.serial >= half && $0.serial <= number }
    }
  }
}
