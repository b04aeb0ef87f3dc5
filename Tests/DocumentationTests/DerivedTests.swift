import Foundation
import SwiftData
import Testing

// The snippet of the article Derived attributes, as it is printed there.

@Model
final class Holiday {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Bill.holiday) var bills: [Bill] = []
  @Derived(.count(\Holiday.bills)) var billCount: Int
  @Derived(.sum(of: \Bill.amount, over: \Holiday.bills)) var total: Int
  @Derived(.canonical(\Holiday.name)) var searchName: String
  @Derived(.modificationDate) var lastModified: Date?

  init(name: String) { self.name = name }
}

@Model
final class Bill {
  var amount: Int
  var holiday: Holiday?

  init(amount: Int) { self.amount = amount }
}

@Suite struct `The article Derived attributes` {
  @Test func `declares models whose counts and sums are kept`() throws {
    let container = try ModelContainer(
      for: Holiday.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let holiday = Holiday(name: "Açores")
    context.insert(holiday)
    holiday.bills = [Bill(amount: 3), Bill(amount: 4)]
    try context.save()
    #expect(holiday.billCount == 2 && holiday.total == 7 && holiday.searchName == "acores")
  }
}
