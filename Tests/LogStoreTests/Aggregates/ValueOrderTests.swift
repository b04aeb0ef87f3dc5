import LogStore
import SwiftData
import Testing

@Model private final class Sample {
  var text: String
  var number: Double
  init(_ text: String, _ number: Double = 0) {
    self.text = text
    self.number = number
  }
}

@Suite struct `Aggregates of values that are hard to order or to square` {
  private let container: ModelContainer
  private let context: ModelContext

  init() throws {
    container = try ModelContainer(
      for: Sample.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
  }

  /// Composed and decomposed spellings, each a beginning of others: `<` of two texts is no order between them.
  @Test func `list texts in the order of a sorted fetch`() throws {
    let parts = ["", "e", "\u{e9}", "e\u{301}", "a", "\u{300}", "\u{ac00}", "\u{1100}\u{1161}"]
    let texts = Set(parts.flatMap { first in parts.map { first + $0 } })
    for text in texts { context.insert(Sample(text)) }
    try context.save()
    let sorted = try context.fetch(FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.text)]))
      .map(\.text)
    #expect(sorted.count == texts.count)
    let all = FetchDescriptor<Sample>()
    #expect(try context.distinct(\.text, in: all) == sorted)
    #expect(try context.aggregate(all, by: \.text, .count).map(\.key) == sorted)
    let (least, greatest) = try context.aggregate(all, .minimum(\.text), .maximum(\.text))
    #expect((least, greatest) == (sorted.first, sorted.last))
  }

  @Test(arguments: [nil, 10]) func `deviate by zero if all are the greatest`(limit: Int?) throws {
    for _ in 0..<3 { context.insert(Sample("", .greatestFiniteMagnitude)) }
    try context.save()
    var descriptor = FetchDescriptor<Sample>()
    descriptor.fetchLimit = limit
    let deviation = try context.aggregate(descriptor, .standardDeviation(\.number))
    #expect(deviation == 0)
  }

  /// The other spelling of a text, and a text that has no value, come after many that are spelled in one way only.
  @Test(arguments: [false, true]) func `take equal texts for one, however they are spelled`(
    isPacked: Bool
  ) throws {
    var counts: [String: Int] = [:]
    func add(_ text: String) {
      context.insert(Sample(text))
      counts[text, default: 0] += 1
    }
    for number in 0..<700 { add("text \(number % 350)") }
    for text in ["\u{e9}", "K", "e\u{301}", "\u{212A}", "", "\u{e9}", "text 3", "\u{37e}", ";"] {
      add(text)
    }
    try context.save()
    if isPacked {
      for store in container.stores(of: LogStore.self) { try store.compact() }
    }
    let groups = try context.aggregate(FetchDescriptor<Sample>(), by: \.text, .count)
    #expect(groups.map(\.key) == counts.keys.sorted())
    #expect(groups.map(\.values) == counts.keys.sorted().map { counts[$0] })
    #expect(
      try context.aggregate(FetchDescriptor<Sample>(), .countDistinct(\.text)) == counts.count
    )
  }

  @Test func `list numbers from what is none to the greatest, each once`() throws {
    let numbers: [Double] = [3, .nan, -0.0, .infinity, -2, 0, -.infinity, .nan, 1e-300, -1e300, 3]
    for number in numbers { context.insert(Sample("", number)) }
    try context.save()
    let keys = try context.distinct(\.number, in: FetchDescriptor<Sample>())
    #expect(keys.first?.isNaN == true)
    #expect(Array(keys.dropFirst()) == [-.infinity, -1e300, -2, 0, 1e-300, 3, .infinity])
    let pairs = try context.aggregate(
      FetchDescriptor<Sample>(),
      by: (.value(\.text), .value(\.number)),
      .count
    )
    #expect(pairs.map(\.values) == [2, 1, 1, 1, 2, 1, 2, 1])
  }
}
