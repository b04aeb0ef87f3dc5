import Foundation
import LogStore
import SwiftData
import Testing

private struct Gauge: Codable, Hashable { var unit: String? }

@Model private final class Maker {
  var nick: String?
  var widgets: [Widget] = []
  init(_ nick: String?) { self.nick = nick }
}

@Model private final class Widget {
  var number: Int
  var mark: String?
  var measure: Gauge?
  var weight: Double
  var price: Decimal = 1
  @Relationship(inverse: \Maker.widgets) var maker: Maker?
  /// Not stored: a predicate that reads it needs objects.
  var twice: Int { number * 2 }

  init(_ number: Int, weight: Double = 0) {
    self.number = number
    self.weight = weight
  }
}

@Suite struct `What needs objects` {
  private let context: ModelContext

  init() throws {
    context = ModelContext(
      try ModelContainer(
        for: Widget.self,
        Maker.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
      )
    )
  }

  private func numbers(_ predicate: Predicate<Widget>) throws -> [Int] {
    try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.number)]))
      .map(\.number)
  }

  @Test(arguments: ["x", "y", nil])
  func `goes on behind a nil at the end of a chain, as rows do`(wanted: String?) throws {
    let makers = [Maker(nil), Maker("x")]
    for maker in makers { context.insert(maker) }
    var widgets: [Widget] = []
    for mark in [nil, "x", "y"] as [String?] {
      for measure in [nil, Gauge(), Gauge(unit: "x")] {
        for maker in [nil, makers[0], makers[1]] {
          let widget = Widget(widgets.count)
          context.insert(widget)
          (widget.mark, widget.measure, widget.maker) = (mark, measure, maker)
          widgets.append(widget)
        }
      }
    }
    try context.save()
    let nicks = widgets.filter { ($0.maker?.nick ?? $0.mark) == wanted }.map(\.number)
    #expect(try numbers(#Predicate { ($0.maker?.nick ?? $0.mark) == wanted }) == nicks)
    #expect(
      try numbers(#Predicate { ($0.maker?.nick ?? $0.mark) == wanted || $0.twice < 0 }) == nicks
    )
    let units = widgets.filter { ($0.measure?.unit ?? $0.mark) == wanted }.map(\.number)
    #expect(try numbers(#Predicate { ($0.measure?.unit ?? $0.mark) == wanted }) == units)
    #expect(
      try numbers(#Predicate { ($0.measure?.unit ?? $0.mark) == wanted || $0.twice < 0 }) == units
    )
  }

  @Test(arguments: [SortOrder.forward, .reverse], [false, true])
  func `is sorted with what is no number behind all numbers`(
    order: SortOrder,
    isPriceFirst: Bool
  ) throws {
    for weight in [2, .nan, 1, -1, .nan, 3] { context.insert(Widget(0, weight: weight)) }
    try context.save()
    let byWeight = SortDescriptor(\Widget.weight, order: order)
    let byPrice = SortDescriptor(\Widget.price)
    var descriptor = FetchDescriptor(
      sortBy: isPriceFirst ? [byPrice, byWeight] : [byWeight, byPrice]
    )
    let sorted = ["-1.0", "1.0", "2.0", "3.0", "nan", "nan"]
    let expected = order == .forward ? sorted : sorted.reversed()
    #expect(try context.fetch(descriptor).map { "\($0.weight)" } == expected)
    descriptor.fetchLimit = 3
    #expect(try context.fetch(descriptor).map { "\($0.weight)" } == Array(expected.prefix(3)))
    context.insert(Widget(1, weight: 2))
    descriptor.fetchLimit = nil
    #expect(
      try context.fetch(descriptor).filter { $0.number == 0 }.map { "\($0.weight)" } == expected
    )
  }

  @Test func `shows stored values beside it as of the order of the fetch`() throws {
    let names = ["a", "b", "c"]
    for name in names {
      let maker = Maker(name)
      context.insert(maker)
      for number in 0..<3 {
        let widget = Widget(number)
        context.insert(widget)
        widget.maker = maker
      }
    }
    try context.save()
    let other = ModelContext(context.container)
    let held = try other.fetch(FetchDescriptor<Maker>(sortBy: [SortDescriptor(\.nick)]))
    #expect(held.map(\.nick) == names)
    for maker in try context.fetch(FetchDescriptor<Maker>()) where maker.nick == "a" {
      maker.nick = "z"
    }
    try context.save()
    let sorted = FetchDescriptor<Widget>(sortBy: [SortDescriptor(\.maker?.nick)])
    let expected = ["b", "b", "b", "c", "c", "c", "z", "z", "z"]
    let nicks: [String?] = try other.fetch(sorted, \.maker?.nick)
    #expect(nicks == expected)
    #expect(try other.fetch(sorted, \.maker?.nick, \.twice).map { $0.0 ?? "" } == expected)
    #expect(
      try other.fetch(sorted, \.maker?.persistentModelID, \.maker?.nick).map { $0.1 ?? "" }
        == expected
    )
    #expect(
      try other.fetch(sorted, \.maker?.widgets.count, \.maker?.nick).map { $0.1 ?? "" } == expected
    )
  }
}
