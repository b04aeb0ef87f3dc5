import Foundation
import ModelRuntime
import PostgresStore
import Testing

// Two subclasses have totals of their own, in columns of the same position, over a list of their superclass.

@Model
private class Passbook {
  var name: String
  @Relationship(inverse: \Booking.account) var bookings: [Booking] = []
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
private final class Booking {
  var amount: Int
  var account: Passbook?
  init(_ amount: Int, _ account: Passbook?) {
    self.amount = amount
    self.account = account
  }
}

@Suite struct `Totals of classes beside each other, on a PostgreSQL server` {
  @Test func `count what is their own`() throws {
    let namespace = try TestNamespace()
    let container = try ModelContainer(
      for: Schema([Passbook.self, Savings.self, Loan.self, Booking.self]),
      configurations: [namespace.configuration]
    )
    let context = ModelContext(container)
    let (savings, loan) = (Savings("s"), Loan("l"))
    context.insert(savings)
    context.insert(loan)
    let bookings = [Booking(100, savings), Booking(100, loan), Booking(7, loan)]
    for booking in bookings { context.insert(booking) }
    try context.save()
    #expect((savings.bookingCount, loan.balance) == (1, 107))
    bookings[1].amount = 50
    bookings[2].account = savings
    try context.save()
    #expect((savings.bookingCount, loan.balance) == (2, 50))
    context.delete(bookings[0])
    try context.save()
    #expect((savings.bookingCount, loan.balance) == (1, 50))
  }
}
