import LogStore
import SwiftData

// Two versions of one app's models: the second renames a property, drops one, adds some with and without
// defaults, and has a subclass.

enum Shade: String, Codable, CaseIterable { case light, medium, dark }

enum EarlierGoods {
  @Model class Item {
    var number: Int = 0
    var small: Int16?
    var unsigned: UInt64 = 0
    var amount: Double = 0
    var ratio: Float?
    var made: Date?
    var isOn: Bool = false
    var isOff: Bool?
    var code: UUID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    var tag: UUID?
    var name: String = ""
    var note: String?
    var shade: Shade = Shade.light
    var dropped: Int = 3
    var heading: String = ""

    init(_ number: Int) { self.number = number }
  }
}

enum Goods {
  @Model class Item {
    var count: Int = 7
    var limit: Int?
    var label: String = "Kelvin"
    var number: Int = 0
    var small: Int16?
    var unsigned: UInt64 = 0
    var amount: Double = 0
    var ratio: Float?
    var made: Date?
    var isOn: Bool = false
    var isOff: Bool?
    var code: UUID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    var tag: UUID?
    var name: String = ""
    var note: String?
    var shade: Shade = Shade.light
    var score: Double? = 2.5
    var isNew: Bool = true
    @Attribute(originalName: "heading") var title: String = ""
    var parent: Item?

    init(_ number: Int) { self.number = number }
  }

  @available(macOS 26, iOS 26, *)
  @Model final class Box: Item {
    var extra: Int = 1

    override init(_ number: Int) { super.init(number) }
  }
}

/// What the properties of both versions have in common.
protocol ColumnItem: PersistentModel {
  var number: Int { get set }
  var small: Int16? { get set }
  var unsigned: UInt64 { get set }
  var amount: Double { get set }
  var ratio: Float? { get set }
  var made: Date? { get set }
  var isOn: Bool { get set }
  var isOff: Bool? { get set }
  var code: UUID { get set }
  var tag: UUID? { get set }
  var name: String { get set }
  var note: String? { get set }
  var shade: Shade { get set }
}

extension EarlierGoods.Item: ColumnItem {}
extension Goods.Item: ColumnItem {}

/// Values that are equal often enough, and special often enough.
enum GoodsValues {
  static let names = [
    "", "a", "Oslo", "oslo", "Oslo-East", "Oslo-West", "customer-0000001", "customer-0000002",
    "caf\u{e9}", "cafe\u{301}", "Kelvin", "\u{212A}elvin", "kelvin", "\u{37E}", ";", "Москва", "東京",
    "a\r\nb", "\u{1E69}", "s\u{323}\u{307}", "s\u{307}\u{323}",
  ]
  static let amounts = [
    0, -0.0, 1, -1, 0.5, 2.5, .nan, .infinity, -.infinity, .greatestFiniteMagnitude,
    .leastNonzeroMagnitude, -3.25,
  ]
  static let integers = [0, 1, 2, 3, 7, -1, -2, 1000, .min, .max]
  static let unsigned: [UInt64] = [0, 1, 2, 1 << 63, (1 << 63) - 1, .max]
  static let uuids = (0..<4).map {
    UUID(uuid: (UInt8($0 / 2), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8($0)))
  }
}

extension SeededRandom {
  mutating func pick<T>(_ values: [T]) -> T { values[next(below: values.count)] }
  mutating func maybe<T>(_ value: T) -> T? { next(below: 3) == 0 ? nil : value }
}

extension ColumnItem {
  /// Gives all properties of both versions some value.
  func fill(_ random: inout SeededRandom) {
    number =
      random.next(below: 6) == 0
      ? random.pick(GoodsValues.integers) : random.next(below: 400) - 200
    small = random.maybe(Int16(random.next(below: 9) - 4))
    unsigned = random.pick(GoodsValues.unsigned)
    amount = random.pick(GoodsValues.amounts)
    ratio = random.maybe(Float(random.pick(GoodsValues.amounts)))
    made = random.maybe(Date(timeIntervalSinceReferenceDate: Double(random.next(below: 50))))
    isOn = random.next(below: 2) == 0
    isOff = random.maybe(random.next(below: 2) == 0)
    code = random.pick(GoodsValues.uuids)
    tag = random.maybe(random.pick(GoodsValues.uuids))
    name = random.pick(GoodsValues.names)
    note = random.maybe(random.pick(GoodsValues.names))
    shade = random.pick(Shade.allCases)
  }
}

extension Goods.Item {
  /// Gives the second version's own properties some value.
  func fillNew(_ random: inout SeededRandom) {
    count = random.next(below: 12)
    limit = random.maybe(random.next(below: 9))
    label = random.pick(GoodsValues.names)
    score = random.maybe(random.pick(GoodsValues.amounts))
    isNew = random.next(below: 2) == 0
    title = random.pick(GoodsValues.names)
  }
}

let goodsSchema = Schema([Goods.Item.self, Goods.Box.self])
