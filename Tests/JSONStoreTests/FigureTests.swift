import Foundation
import JSONStore
import SwiftData
import Testing

private struct Currency: RawRepresentable, Codable, Hashable {
  var rawValue: String
}

@Model private final class Payment {
  var currency: Currency
  var former: Currency?
  var cents: Int

  init(_ currency: String, _ cents: Int) {
    self.currency = Currency(rawValue: currency)
    self.cents = cents
  }
}

@Suite struct `Figures of what is in a JSON file` {
  let context: ModelContext
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    context = ModelContext(
      try ModelContainer(
        for: Schema([Payment.self]),
        configurations: [
          JSONStoreConfiguration(name: "payments", url: folder.url.appending(path: "payments.json"))
        ]
      )
    )
    for number in 0..<3 { context.insert(Payment("EUR", number)) }
    try context.save()
  }

  @Test func `put equal structures with raw values into one group, saved or not`() throws {
    context.insert(Payment("EUR", 3))
    let all = FetchDescriptor<Payment>()
    let groups = try context.aggregate(all, by: \.currency, .count)
    #expect(groups.map(\.key.rawValue) == ["EUR"] && groups.map(\.values) == [4])
    #expect(try context.distinct(\.former, in: all) == [nil])
    #expect(try context.aggregate(all, .countDistinct(\.currency)) == 1)
  }

  @Test func `are of what is stored where pending changes are left out`() throws {
    for payment in try context.fetch(FetchDescriptor<Payment>()) {
      payment.cents = 100
      payment.currency = Currency(rawValue: "CHF")
    }
    context.insert(Payment("EUR", 3))
    var stored = FetchDescriptor<Payment>(sortBy: [SortDescriptor(\.cents)])
    stored.includePendingChanges = false
    #expect(try context.aggregate(stored, .sum(\.cents)) == 3)
    #expect(try context.distinct(\.currency, in: stored).map(\.rawValue) == ["EUR"])
    #expect(try context.fetch(stored, \.cents) == [0, 1, 2])
    stored.predicate = #Predicate { $0.cents < 2 }
    #expect(try context.fetchCount(stored) == 2 && context.fetchIdentifiers(stored).count == 2)
    let models = try context.fetch(stored)
    #expect(models.map(\.cents) == [100, 100] && models.allSatisfy(\.hasChanges))
    #expect(try context.aggregate(FetchDescriptor<Payment>(), .sum(\.cents)) == 303)
  }
}
