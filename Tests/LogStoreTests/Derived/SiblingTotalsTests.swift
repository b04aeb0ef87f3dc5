import Foundation
import LogEngine
import RowFormat
import SwiftData
import Testing

@testable import LogStore

// Subclasses have totals of their own, in columns of the same position, over lists of their superclass, whose members name
// it in columns of the same position.

@Model
private class Passbook {
  var name: String
  @Relationship(inverse: \Booking.account) var bookings: [Booking] = []
  @Relationship(inverse: \Sticker.account) var stickers: [Sticker] = []
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
private final class StickerBook: Passbook {
  @Derived(.count(\StickerBook.stickers)) var stickerCount: Int
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

@Model
private final class Sticker {
  var text: String
  var account: Passbook?
  init(_ text: String, _ account: Passbook?) {
    self.text = text
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
  private let stickerBook = StickerBook("a")

  init() throws {
    folder = try TemporaryFolder()
    container = try Self.open(folder)
    context = ModelContext(container)
    context.insert(stickerBook)
    context.insert(savings)
    context.insert(loan)
    context.insert(deposit)
    try context.save()
  }

  private static func open(_ folder: TemporaryFolder) throws -> ModelContainer {
    try ModelContainer(
      for: Passbook.self,
      Savings.self,
      Loan.self,
      StickerBook.self,
      Deposit.self,
      Booking.self,
      Sticker.self,
      configurations: LogStoreConfiguration(url: folder.url.appending(path: "accounts.store"))
    )
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

  @Test func `count no members of another list`() throws {
    let sticker = Sticker("s", savings)
    context.insert(sticker)
    context.insert(Sticker("a", stickerBook))
    context.insert(Booking(100, stickerBook))
    try context.save()
    try check(0, 0)
    #expect(stickerBook.stickerCount == 1)
    sticker.account = stickerBook
    try context.save()
    try check(0, 0)
    #expect(stickerBook.stickerCount == 2)
  }

  /// The entries of stores in which the totals of siblings were mixed up have other words.
  @Test func `are computed anew in a store from before they were kept apart`() async throws {
    context.insert(Booking(100, savings))
    context.insert(Booking(100, loan))
    try context.save()
    try check(1, 100)
    try await container.close()
    let engine = try StorageEngine.open(at: folder.url.appending(path: "accounts.store").path)
    let own = engine.catalogue.metadata.filter {
      $0.key.hasPrefix("derived.") && $0.value.starts(with: Array("own ".utf8))
    }
    #expect(own.count == 3)
    try engine.apply(own.map { .setMetadata(key: $0.key, value: Array($0.value.dropFirst(4))) })
    let bookings = try #require(engine.catalogue.tables.first { $0.name == "Booking" })
    var batch = engine.makeBatch()
    for key in [1, 2] as [UInt64] { batch.delete(RowReference(table: bookings.number, key: key)) }
    _ = try engine.commit(&batch)
    try engine.close()
    let reopened = ModelContext(try Self.open(folder))
    #expect(try reopened.fetch(FetchDescriptor<Savings>()).map(\.bookingCount) == [0])
    #expect(try reopened.fetch(FetchDescriptor<Loan>()).map(\.balance) == [0])
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
