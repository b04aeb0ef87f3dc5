import Foundation
import SwiftData
import Testing

@testable import LogStore

// Two subclasses have totals of their own, in columns of the same position, over a list of their superclass.

@Model
private class Passbook {
  var name: String
  @Relationship(inverse: \Booking.account) var bookings: [Booking] = []
  @Derived(.modificationDate) var modified: Date?
  init(_ name: String) { self.name = name }
}

@Model
private final class Savings: Passbook {
  @Derived(.count(\Savings.bookings)) var bookingCount: Int
  override init(_ name: String) { super.init(name) }
}

@Model
private final class Loan: Passbook {
  @Derived(.sum(of: \Booking.amount, over: \Loan.bookings)) var balance: Int
  override init(_ name: String) { super.init(name) }
}

@Model
private final class Deposit: Passbook {
  var rate = 0.0
  override init(_ name: String) { super.init(name) }
}

@Model
private final class Booking {
  var amount: Int
  var account: Passbook?
  init(_ amount: Int, _ account: Passbook?) {
    self.amount = amount
    self.account = account
  }
}

@Suite struct `Totals of classes beside each other` {
  private let folder: TemporaryFolder
  private let container: ModelContainer
  private let context: ModelContext
  private let savings = Savings("s")
  private let loan = Loan("l")
  private let deposit = Deposit("d")

  init() throws {
    folder = try TemporaryFolder()
    container = try ModelContainer(
      for: Passbook.self,
      Savings.self,
      Loan.self,
      Deposit.self,
      Booking.self,
      configurations: LogStoreConfiguration(url: folder.url.appending(path: "accounts.store"))
    )
    context = ModelContext(container)
    context.insert(savings)
    context.insert(loan)
    context.insert(deposit)
    try context.save()
  }

  private func check(_ count: Int, _ balance: Int) throws {
    #expect((savings.bookingCount, loan.balance) == (count, balance))
    for store in container.stores(of: LogStore.self) {
      #expect(try store.openTables().derivedViolations().isEmpty)
    }
  }

  @Test func `count what is their own`() throws {
    let bookings = [Booking(100, savings), Booking(100, loan), Booking(7, loan)]
    for booking in bookings { context.insert(booking) }
    try context.save()
    try check(1, 107)
    bookings[1].amount = 50
    bookings[2].account = savings
    try context.save()
    try check(2, 50)
    context.delete(bookings[0])
    try context.save()
    try check(1, 50)
  }

  @Test func `leave alone what has none`() throws {
    let modified = try #require(deposit.modified)
    context.insert(Booking(100, deposit))
    try context.save()
    #expect(deposit.modified == modified)
    #expect(
      try ModelContext(container).fetch(FetchDescriptor<Deposit>()).map(\.modified) == [modified]
    )
  }
}
