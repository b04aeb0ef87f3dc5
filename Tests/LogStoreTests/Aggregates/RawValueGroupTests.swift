import Foundation
import LogStore
import SwiftData
import Testing

/// A name with a type of its own, as apps write them.
private struct Currency: RawRepresentable, Codable, Hashable, Comparable {
  var rawValue: String
  static func < (lhs: Currency, rhs: Currency) -> Bool { lhs.rawValue < rhs.rawValue }
}

private struct Priority: RawRepresentable, Codable, Hashable {
  var rawValue: Int
}

private struct Price: Codable, Hashable {
  var cents: Int
  var currency: Currency
}

@Model private class Payment {
  var number: Int
  var currency: Currency
  var former: Currency?
  var priority: Priority
  var price: Price
  var site: URL
  var purse: Purse?

  /// What only objects know.
  var home: URL { URL(string: "home", relativeTo: site) ?? site }

  init(_ number: Int, _ currency: String) {
    self.number = number
    self.currency = Currency(rawValue: currency)
    former = number % 2 == 0 ? nil : Currency(rawValue: "DEM")
    priority = Priority(rawValue: 1)
    price = Price(cents: 5, currency: Currency(rawValue: currency))
    site =
      URL(string: "a", relativeTo: URL(string: "https://example.org/"))
      ?? URL(filePath: "/")
  }
}

@Model private final class Refund: Payment {
  var reason = ""
  override init(_ number: Int, _ currency: String) { super.init(number, currency) }
}

@Model private final class Purse {
  var currency: Currency
  init(_ currency: String) { self.currency = Currency(rawValue: currency) }
}

@Suite struct `Groups by a structure with a raw value` {
  private let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: Payment.self,
      Refund.self,
      Purse.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
  }

  /// Where the models are that are measured.
  enum State: String, CaseIterable { case saved, unsaved, partlyUnsaved, objects }

  private func context(_ state: State) throws -> (ModelContext, FetchDescriptor<Payment>) {
    let context = ModelContext(container)
    let purse = Purse("EUR")
    context.insert(purse)
    for number in 0..<6 {
      if state == .partlyUnsaved, number == 3 { try context.save() }
      let payment =
        number % 3 == 2 ? Refund(number, "EUR") : Payment(number, number == 0 ? "CHF" : "EUR")
      context.insert(payment)
      payment.purse = purse
    }
    if state == .saved || state == .objects { try context.save() }
    var descriptor = FetchDescriptor<Payment>()
    if state == .objects { descriptor.fetchLimit = 100 }
    return (context, descriptor)
  }

  private func currency(_ name: String) -> Currency { Currency(rawValue: name) }

  @Test(arguments: State.allCases)
  func `are one for each value`(state: State) throws {
    let (context, all) = try context(state)
    let groups = try context.aggregate(all, by: \.currency, .count)
    #expect(groups.map(\.key) == [currency("CHF"), currency("EUR")])
    #expect(groups.map(\.values) == [1, 5])
    #expect(try context.distinct(\.currency, in: all) == [currency("CHF"), currency("EUR")])
    #expect(try context.distinct(\.former, in: all) == [nil, currency("DEM")])
    #expect(try context.distinct(\.priority, in: all) == [Priority(rawValue: 1)])
    #expect(try context.distinct(\.purse?.currency, in: all) == [currency("EUR")])
    #expect(try context.distinct(\.site, in: all).count == 1)
    let (currencies, formers, some, sites) = try context.aggregate(
      all,
      .countDistinct(\.currency),
      .countDistinct(\.former),
      .count(\.former),
      .countDistinct(\.site)
    )
    #expect(currencies == 2 && formers == 1 && some == 3 && sites == 1)
    let (first, last) = try context.aggregate(
      all,
      .first(\.currency, by: \.number),
      .last(\.former, by: \.number)
    )
    #expect(first == currency("CHF") && last == currency("DEM"))
    let pairs = try context.aggregate(all, by: (.value(\.priority), .value(\.currency)), .count)
    #expect(pairs.map(\.values) == [1, 5])
  }

  @Test(arguments: State.allCases)
  func `are one for each value of an expression`(state: State) throws {
    let (context, all) = try context(state)
    let name = #Expression<Payment, String> { $0.price.currency.rawValue }
    let names = try context.aggregate(all, by: .value(name), .count)
    #expect(names.map(\.key) == ["CHF", "EUR"] && names.map(\.values) == [1, 5])
    let raw = #Expression<Payment, Int> { $0.priority.rawValue }
    #expect(try context.aggregate(all, by: .value(raw), .count).map(\.values) == [6])
    let home = #Expression<Payment, URL> { $0.home }
    #expect(try context.aggregate(all, by: .value(home), .count).map(\.values) == [6])
  }

  @Test(arguments: State.allCases)
  func `have the values that models, sorts and columns have`(state: State) throws {
    let (context, all) = try context(state)
    let models = try context.fetch(all)
    #expect(Set(models.map(\.currency)) == Set(try context.distinct(\.currency, in: all)))
    var sorted = all
    sorted.sortBy = [SortDescriptor(\.currency, order: .reverse), SortDescriptor(\.number)]
    sorted.propertiesToFetch = [\.currency, \.price]
    #expect(try context.fetch(sorted).map(\.number) == [1, 2, 3, 4, 5, 0])
    let columns = try context.fetch(sorted, \.currency, \.former, \.priority)
    #expect(columns.map(\.0) == Array(repeating: currency("EUR"), count: 5) + [currency("CHF")])
    #expect(columns.count { $0.1 == nil } == 3)
    let wanted = currency("EUR")
    var matching = all
    matching.predicate = #Predicate { $0.currency == wanted }
    #expect(try context.fetch(matching).count == 5)
    #expect(try context.distinct(\.currency, in: matching) == [wanted])
    let both: Set<Currency> = [wanted, currency("CHF")]
    matching.predicate = #Predicate { both.contains($0.currency) }
    #expect(try context.distinct(\.currency, in: matching).count == 2)
  }
}
