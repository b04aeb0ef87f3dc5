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
}
