import Foundation
import LogStore
import SwiftData
import Testing

// A save that fails may have given its new models rows already, which mean nothing in another store.

@Suite struct `A new model whose save has failed` {
  /// How it left its context.
  enum Departure: CaseIterable { case withItsContext, deleted, undone, rolledBack }

  private func refuse(_ account: Account, by container: ModelContainer, _ departure: Departure)
    throws
  {
    let context = ModelContext(container)
    context.undoManager = departure == .undone ? UndoManager() : nil
    context.insert(account)
    #expect(throws: SwiftDataError.self) { try context.save() }
    switch departure {
    case .withItsContext: break
    case .deleted:
      context.delete(account)
      try context.save()
    case .undone: context.undoManager?.undo()
    case .rolledBack: context.rollback()
    }
  }

  @Test(arguments: Departure.allCases)
  func `is a row like any other of the store it is saved to next`(departure: Departure) throws {
    let full = try makeUniqueContext(.throw)
    full.insert(Account(1))
    try full.save()
    let account = Account(1, "kept")
    try refuse(account, by: full.container, departure)
    #expect(account.modelContext == nil)

    let next = try makeUniqueContext()
    for number in 10..<50 { next.insert(Account(number)) }
    try next.save()
    next.insert(account)
    try next.save()
    let stored = try ModelContext(next.container)
      .fetch(FetchDescriptor<Account>(sortBy: [SortDescriptor(\.number)]))
    #expect(stored.map(\.number) == [1] + Array(10..<50))
    #expect(stored.first?.name == "kept")
  }
}
