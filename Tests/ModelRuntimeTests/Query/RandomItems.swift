import Foundation

@testable import ModelRuntime

/// A generator that gives the same numbers for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }

  mutating func pick<T>(_ values: [T]) -> T { values[Int(next() % UInt64(values.count))] }
}

/// The values that rows and constants are made of: few, so that they meet, and awkward.
enum Samples {
  static let integers = [0, 1, -1, 2, 3, 7, 100, -100, Int.max, Int.min, Int.max - 1]
  static let smalls: [Int16] = [0, 1, -1, 300, .max, .min]
  static let bytes: [UInt8] = [0, 1, 127, 128, 255]
  static let wides: [UInt64] = [0, 1, 1 << 63, (1 << 63) - 1, .max, .max - 1]
  static let doubles = [0, -0.0, 1, 1.5, -2.25, 0.1, .infinity, -.infinity, .nan, 1e300]
  static let floats: [Float] = [0, 0.1, 0.2, 0.3, -1.5, .infinity, .nan, 16_777_216]
  static let dates = [0, 1, -1, 700_000_000, 700_000_000.5].map {
    Date(timeIntervalSinceReferenceDate: $0)
  }
  static let uuids = [0, 1, 127, 128, 255].map { (last: UInt8) in
    UUID(uuid: (last, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255 - last))
  }
  static let texts = [
    "", "a", "A", "b", "ab", "abc", "abcdefgh", "abcdefghi", "Zebra", "zebra", "z",
    "é", "e\u{301}", "É", "e", "caf\u{e9}", "cafe\u{301}", "cafe", "ÅNGSTRÖM",
    "\u{212B}ngstr\u{f6}m",
    "\u{212A}elvin", "Kelvin", "K", ";", "\u{37E}", "한글", "\u{1112}\u{1161}\u{11AB}글", "日本語",
    "👨‍👩‍👧", "👨", "a\r\nb", "a\nb", "\n", "\r", "\r\n", "x\u{327}\u{301}", "x\u{301}\u{327}", "ﬁn",
    "fin",
    "Straße", "STRASSE", "ß", "ij", "\u{AD}a", "ab\u{300}c",
  ]
  static let links = ["https://a.example/x", "https://a.example/y?q=1", "file:///", "mailto:a@b.c"]
    .compactMap(URL.init(string:))
  static let payloads = [[], [0], [1, 2, 3], [255], [1, 2]].map { Data($0 as [UInt8]) }
}

/// A world of items, folders and labels in which everything occurs.
struct RandomItems {
  let items: [Item]
  let folders: [Folder]
  let labels: [Label]
  let fixture: RowFixture

  init(count: Int = 60, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let folders = (0..<6).map { index in
      Folder(name: generator.pick(Samples.texts), size: index)
    }
    for folder in folders.dropFirst(2) {
      folder.parent = folders[Int(generator.next() % 2)]
      folder.comment = generator.next() % 2 == 0 ? generator.pick(Samples.texts) : nil
    }
    let labels = (0..<5).map { _ in
      Label(name: generator.pick(Samples.texts), weight: generator.pick(Samples.doubles))
    }
    items = (0..<count).map { index in
      let place = generator.pick(Samples.texts)
      let item = index % 5 == 4 ? Errand(number: 0, place: place) : Item(number: 0)
      item.fill(from: &generator)
      if generator.next() % 3 > 0 { item.folder = generator.pick(folders) }
      item.labels = labels.filter { _ in generator.next() % 3 == 0 }
      return item
    }
    self.folders = folders
    self.labels = labels
    fixture = try RowFixture(items + folders + labels)
  }

  private init(_ other: RandomItems, _ more: [any PersistentModel]) throws {
    items = other.items
    folders = other.folders
    labels = other.labels
    fixture = try RowFixture(other.fixture.models + more)
  }

  /// The same world, with more models in it.
  func adding(_ models: [any PersistentModel]) throws -> RandomItems {
    try RandomItems(self, models)
  }
}

extension Item {
  fileprivate func fill(from generator: inout SeededGenerator) {
    number = generator.pick(Samples.integers)
    small = generator.pick(Samples.smalls)
    byte = generator.pick(Samples.bytes)
    wide = generator.pick(Samples.wides)
    ratio = generator.pick(Samples.doubles)
    share = generator.pick(Samples.floats)
    isDone = generator.next() % 2 == 0
    due = generator.pick(Samples.dates)
    token = generator.pick(Samples.uuids)
    title = generator.pick(Samples.texts)
    payload = generator.pick(Samples.payloads)
    link = generator.pick(Samples.links)
    priority = generator.pick(Priority.allCases)
    status = generator.pick(Status.allCases)
    count = generator.pick(Samples.integers + [nil])
    score = generator.pick(Samples.doubles + [nil])
    weight = generator.pick(Samples.floats + [nil])
    isOld = generator.pick([true, false, nil])
    seen = generator.pick(Samples.dates + [nil])
    key = generator.pick(Samples.uuids + [nil])
    note = generator.pick(Samples.texts + [nil, nil, nil, nil])
    site = generator.pick(Samples.links + [nil])
    rank = generator.pick(Priority.allCases + [nil])
  }
}
