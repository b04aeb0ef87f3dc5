import Foundation
import RowFormat
import Testing

@testable import ModelRuntime

/// A sort to try, with a name for the report.
struct Ordering: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let keys: [SortDescriptor<Item>]

  init(_ name: String, _ keys: SortDescriptor<Item>...) {
    testDescription = name
    self.keys = keys
  }

  static let all = [
    Ordering("Int", SortDescriptor(\.number)),
    Ordering("Int, reversed", SortDescriptor(\.number, order: .reverse)),
    Ordering("Int16", SortDescriptor(\.small)),
    Ordering("UInt64", SortDescriptor(\.wide)),
    Ordering("UInt64, reversed", SortDescriptor(\.wide, order: .reverse)),
    Ordering("Date", SortDescriptor(\.due)),
    Ordering("UUID", SortDescriptor(\.token, order: .reverse)),
    Ordering("text", SortDescriptor(\.title)),
    Ordering("text, reversed", SortDescriptor(\.title, order: .reverse)),
    Ordering("text, lexical", SortDescriptor(\.title, comparator: .lexical)),
    Ordering("text, localized", SortDescriptor(\.title, comparator: .localized)),
    Ordering("text?, localized", SortDescriptor(\.note, comparator: .localizedStandard)),
    Ordering(
      "text through a reference, localized",
      SortDescriptor(\.folder?.name, comparator: .localizedStandard, order: .reverse)
    ),
    Ordering("Double with NaN", SortDescriptor(\.ratio)),
    Ordering("Float with NaN", SortDescriptor(\.share, order: .reverse)),
    Ordering("Int?", SortDescriptor(\.count)),
    Ordering("Int?, reversed", SortDescriptor(\.count, order: .reverse)),
    Ordering("text?", SortDescriptor(\.note)),
    Ordering("text?, lexical", SortDescriptor(\.note, comparator: .lexical, order: .reverse)),
    Ordering("Date?", SortDescriptor(\.seen)),
    Ordering("UUID?", SortDescriptor(\.key)),
    Ordering("Int, then text", SortDescriptor(\.small), SortDescriptor(\.title)),
    Ordering(
      "text?, then Int, reversed",
      SortDescriptor(\.note),
      SortDescriptor(\.number, order: .reverse)
    ),
    Ordering("through a reference", SortDescriptor(\.folder?.size)),
    Ordering("text through a reference", SortDescriptor(\.folder?.name, order: .reverse)),
    Ordering("through two references", SortDescriptor(\.folder?.parent?.name)),
    Ordering("optional through a reference", SortDescriptor(\.folder?.comment)),
    Ordering(
      "reference, then own",
      SortDescriptor(\.folder?.parent?.size),
      SortDescriptor(\.due),
      SortDescriptor(\.number)
    ),
  ]
}

extension Ordering {
  /// The items in order, as objects are sorted; but for NaN, which has no place there, and here comes last.
  func sorted(_ items: [Item]) -> [Item] {
    func precedes<Value: BinaryFloatingPoint>(_ lhs: Value, _ rhs: Value) -> Bool {
      lhs < rhs || rhs.isNaN && !lhs.isNaN
    }
    return switch testDescription {
    case "Double with NaN": items.sorted { precedes($0.ratio, $1.ratio) }
    case "Float with NaN": items.sorted { precedes($1.share, $0.share) }
    default: items.sorted(using: keys)
    }
  }
}

@Suite struct `The order of rows` {
  @Test(arguments: Ordering.all)
  func `is the order of objects`(_ ordering: Ordering) throws {
    for seed in 1...3 {
      let world = try RandomItems(count: 80, seed: UInt64(seed))
      let expected = ordering.sorted(world.items)
      let found = try world.fixture.sorted(Item.self, by: ordering.keys)
      #expect(found.map { ObjectIdentifier($0) } == expected.map { ObjectIdentifier($0) })
    }
  }

  @Test(arguments: Ordering.all)
  func `is found for objects with each key read once`(_ ordering: Ordering) throws {
    for seed in 1...3 {
      let world = try RandomItems(count: 80, seed: UInt64(seed))
      let expected = ordering.sorted(world.items)
      var found = world.items
      FetchDescriptor(sortBy: ordering.keys).sort(&found)
      #expect(found.map { ObjectIdentifier($0) } == expected.map { ObjectIdentifier($0) })
    }
  }

  @Test(arguments: [1, 2, 5, 39, 40, 79, 80, 81, 1000])
  func `is cut to its first rows while they are collected`(limit: Int) throws {
    for ordering in Ordering.all {
      let world = try RandomItems(count: 80, seed: UInt64(limit))
      let expected = ordering.sorted(world.items).prefix(limit)
      let found = try world.fixture.sorted(Item.self, by: ordering.keys, limit: limit)
      #expect(
        found.map { ObjectIdentifier($0) } == expected.map { ObjectIdentifier($0) },
        "\(ordering.testDescription)"
      )
    }
  }

  @Test func `keeps few rows when few are wanted`() throws {
    let world = try RandomItems(count: 400, seed: 7)
    var kept = 0
    _ = try world.fixture.sorted(Item.self, by: [SortDescriptor(\.token)], limit: 3) { kept += 1 }
    #expect(kept < 100)
  }

  @Test func `can be that of identifiers`() throws {
    let world = try RandomItems(seed: 4)
    let shuffled = try RowFixture(world.items.reversed())
    let found = try shuffled.sorted(Item.self, by: [SortDescriptor(\.persistentModelID)])
    // The fixture numbers the rows as they come, class by class; errands come before items.
    let names = found.map { shuffled.reference(to: $0).key }
    let classes = found.map { "\(type(of: $0))" }
    #expect(classes == classes.sorted())
    for name in ["Errand", "Item"] {
      let own = zip(classes, names).filter { $0.0 == name }.map(\.1)
      #expect(own == own.sorted())
    }
  }

  @Test func `is left to objects where only they know it`() {
    #expect(throws: Untranslatable.self) {
      try RowOrdering([SortDescriptor(\Item.title.count)])
    }
    #expect(throws: Untranslatable.self) {
      try RowOrdering([SortDescriptor(\Item.shout)])
    }
  }
}

extension Item {
  var shout: String { title.uppercased() }
}

extension RowFixture {
  /// The models of a class in the order of their rows.
  func sorted<T: PersistentModel>(
    _: T.Type,
    by keys: [SortDescriptor<T>],
    limit: Int? = nil,
    keeping: () -> Void = {}
  ) throws -> [T] {
    var sorter = RowSorter(try RowOrdering(keys), limit: limit, resolver: self)
    var kept: [T] = []
    for case let model as T in models {
      let reference = reference(to: model)
      var isKept = false
      _ = try withRow(reference) {
        isKept = try sorter.append($0, reference, of: .of(type(of: model)))
      }
      if isKept {
        kept.append(model)
        keeping()
      }
    }
    return sorter.sorted().map { kept[$0] }
  }
}

@Suite struct `The order of texts` {
  /// Composed and decomposed spellings, each a beginning of others.
  static let texts: [String] = {
    let parts = [
      "", "e", "\u{e9}", "e\u{301}", "a", "\u{300}", "\u{439}", "\u{ac00}", "\u{1100}\u{1161}",
    ]
    return parts.flatMap { first in parts.flatMap { second in parts.map { first + second + $0 } } }
  }()

  @Test func `is that of their composed scalars, and has equal ones together`() {
    let composed = Self.texts.map { Array($0.precomposedStringWithCanonicalMapping.utf8) }
    for (lhs, left) in zip(Self.texts, composed) {
      for (rhs, right) in zip(Self.texts, composed) {
        let expected = left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
        #expect(lhs.canonicalOrder(rhs) == expected, "\(lhs) \(rhs)")
        #expect((lhs == rhs) == (expected == 0), "\(lhs) \(rhs)")
      }
    }
  }

  @Test func `takes no character for composed that is not`() {
    var wrong: [UInt32] = []
    for value in 0..<0x1FB00 as Range<UInt32> {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = String(Character(scalar))
      for (lhs, rhs) in [
        (text, text.precomposedStringWithCanonicalMapping + "a"), ("e" + text, "\u{e9}"),
      ] {
        let left = Array(lhs.precomposedStringWithCanonicalMapping.utf8)
        let right = Array(rhs.precomposedStringWithCanonicalMapping.utf8)
        let expected = left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
        if lhs.canonicalOrder(rhs) != expected { wrong.append(value) }
      }
    }
    #expect(wrong == [])
  }
}

@Suite struct `Sort keys of many rows` {
  private static let texts: [String?] = [
    nil, "", "\0", "a", "a\0", "ab", "N123", "N12345678", "N123456789", "N12345678\0", "é",
    "e\u{301}",
  ]
  private static let plainTexts: [String?] = ["N1", "N12", "N123", "N2", "N", "N12345678"]
  private static let integers: [Int64?] = [nil, 0, 1, -1, .min, .max]
  private static let dates: [Double?] = [0, -0.0, 1, -1, .nan, .infinity]

  @Test(arguments: 0..<24)
  func `are in the order of one comparison after the other`(seed: Int) {
    var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
    func draw<Value>(_ values: [Value]) -> Value {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return values[Int(state >> 33) % values.count]
    }
    let texts =
      seed % 3 == 0 ? Self.texts : seed % 3 == 1 ? Self.plainTexts : Self.plainTexts + [nil]
    var keys = SortKeys([
      SortColumn(kind: .text, order: seed % 2 == 0 ? .forward : .reverse),
      SortColumn(kind: .integer, order: seed % 4 < 2 ? .forward : .reverse),
      SortColumn(kind: .date, order: seed % 8 < 4 ? .forward : .reverse),
    ])
    let count = draw([0, 1, 2, 33, 500, 2000])
    for _ in 0..<count {
      keys.append(draw(texts).map { .text($0) } ?? .null, toColumn: 0)
      keys.append(draw(Self.integers).map { .integer($0) } ?? .null, toColumn: 1)
      keys.append(draw(Self.dates).map { .double($0) } ?? .null, toColumn: 2)
    }
    let expected = (0..<count).sorted { lhs, rhs in
      keys.precedes(lhs, rhs) || !keys.precedes(rhs, lhs) && lhs < rhs
    }
    #expect(keys.sorted() == expected, "seed \(seed)")
  }
}
