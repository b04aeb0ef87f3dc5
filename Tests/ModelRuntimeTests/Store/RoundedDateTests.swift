import Foundation
import Testing

@testable import ModelRuntime

@Model class Stamped {
  var made: Date
  var seen: Date?
  var name = ""

  init(made: Date) { self.made = made }
}

@Model final class StampedTwice: Stamped {
  var kept: Date

  init(made: Date, kept: Date) {
    self.kept = kept
    super.init(made: made)
  }
}

@Suite struct `A save to a store that rounds dates` {
  private let date = Date(timeIntervalSinceReferenceDate: 1.75)
  private let rounded = Date(timeIntervalSinceReferenceDate: 1)

  private func round(_ date: Date) -> Date {
    Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down))
  }

  @Test func `rounds those of new models, inherited ones too`() throws {
    let container = try ModelContainer(
      for: Schema([Stamped.self, StampedTwice.self]),
      configurations: [MemoryStore.Configuration()]
    )
    let context = ModelContext(container)
    let (base, sub) = (Stamped(made: date), StampedTwice(made: date, kept: date))
    context.insert(base)
    context.insert(sub)
    sub.seen = date
    var changes = ChangeSet()
    changes.inserted = [base, sub]
    changes.roundDates(by: round)
    #expect([base.made, sub.made, sub.kept] == [rounded, rounded, rounded])
    #expect(sub.seen == rounded && base.seen == nil)
  }

  @Test func `rounds those that were set, inherited ones too`() throws {
    let container = try ModelContainer(
      for: Schema([Stamped.self, StampedTwice.self]),
      configurations: [MemoryStore.Configuration()]
    )
    let context = ModelContext(container)
    let sub = StampedTwice(made: date, kept: date)
    context.insert(sub)
    try context.save()
    sub.seen = date
    var changes = ChangeSet()
    changes.updated = [sub]
    changes.roundDates(by: round)
    #expect(sub.seen == rounded)
    #expect([sub.made, sub.kept] == [date, date])
  }
}
