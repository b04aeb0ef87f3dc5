import Foundation
import ModelRuntime
import PostgresStore
import Testing

// Subclasses have totals of their own, in columns of the same position, over lists of their superclass, whose members name
// it in columns of the same position.

@Model
private class Passbook {
  var name: String
  @Relationship(inverse: \Booking.account) var bookings: [Booking] = []
  @Relationship(inverse: \Sticker.account) var stickers: [Sticker] = []
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
private final class StickerBook: Passbook {
  @Derived(.count(\StickerBook.stickers)) var stickerCount: Int
  override init(_ name: String) { super.init(name) }
}

@Model
private final class Sticker {
  var text: String
  var account: Passbook?
  init(_ text: String, _ account: Passbook?) {
    self.text = text
    self.account = account
  }
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
      for: Schema([
        Passbook.self, Savings.self, Loan.self, StickerBook.self, Booking.self, Sticker.self,
      ]),
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
    let stickerBook = StickerBook("a")
    context.insert(stickerBook)
    context.insert(Sticker("s", savings))
    context.insert(Booking(1, stickerBook))
    try context.save()
    #expect((savings.bookingCount, stickerBook.stickerCount) == (1, 0))
  }
}
