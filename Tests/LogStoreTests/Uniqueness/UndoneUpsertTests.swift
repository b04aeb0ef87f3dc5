import Foundation
import LogStore
import SwiftData
import Testing

@testable import ModelRuntime

@Suite struct `Undoing the insertion of a model that a save made an update of` {
  let context: ModelContext
  let undo = UndoManager()

  init() throws { context = try makeUniqueContext() }

  private func stored() throws -> [Account] {
    try ModelContext(context.container).fetch(FetchDescriptor(sortBy: [SortDescriptor(\.number)]))
  }

  /// Expects that nothing is pending, and that every way to ask for accounts has the same answer.
  private func expectOneAccount(_ name: String) throws {
    #expect(!context.hasChanges)
    #expect(try context.fetch(FetchDescriptor<Account>()).map(\.name) == [name])
    #expect(try context.fetchCount(FetchDescriptor<Account>()) == 1)
    var visited: [String] = []
    try context.enumerate(FetchDescriptor<Account>()) { visited.append($0.name) }
    #expect(visited == [name])
    #expect(context.invariantViolations() == [])
    #expect(try stored().map(\.name) == [name])
  }

  @Test func `takes nothing back where the context had the row's object`() throws {
    let old = Account(1, "old")
    context.insert(old)
    try context.save()
    context.undoManager = undo
    let new = Account(1, "new")
    context.insert(new)
    try context.save()
    undo.undo()
    try expectOneAccount("new")
    try context.save()
    undo.redo()
    try context.save()
    try expectOneAccount("new")
    #expect(old.modelContext === context && new.modelContext == nil)
  }

  @Test func `takes out the last of several new ones, which is the one there is`() throws {
    context.undoManager = undo
    undo.groupsByEvent = false
    for number in 1...3 {
      undo.beginUndoGrouping()
      context.insert(Account(7, "\(number)"))
      undo.endUndoGrouping()
    }
    try context.save()
    undo.undo()
    try context.save()
    #expect(try stored().isEmpty)
    for _ in 1...2 {
      undo.undo()
      #expect(!context.hasChanges)
    }
    #expect(context.invariantViolations() == [])
  }

  @Test func `leaves the relationships as the save made them`() throws {
    let first = Bank("first")
    let second = Bank("second")
    let old = Account(1, "old")
    old.bank = first
    context.insert(old)
    context.insert(second)
    try context.save()
    #expect(first.accounts == [old])
    context.undoManager = undo
    let new = Account(1, "new")
    new.bank = second
    context.insert(new)
    try context.save()
    #expect(first.accounts.isEmpty && second.accounts == [old])
    undo.undo()
    #expect(old.bank === second)
    #expect(first.accounts.isEmpty)
    #expect(second.accounts == [old])
    try context.save()
    #expect(first.accounts.isEmpty && second.accounts == [old])
    #expect(context.invariantViolations() == [])
    #expect(try stored().map { $0.bank?.name } == ["second"])
  }
}

@Suite struct `Undoing a relationship to a model that a save merged into another` {
  let context: ModelContext
  let undo = UndoManager()

  init() throws {
    context = try makeUniqueContext()
    context.undoManager = undo
  }

  @Test(arguments: [false, true], [false, true])
  func `takes both ends back`(isStored: Bool, isSavedBetween: Bool) throws {
    let entry = Entry(1)
    let card = Card("1111")
    context.insert(entry)
    context.insert(card)
    let (first, last) = (Account(1, "first"), Account(1, "last"))
    context.insert(first)
    if isStored { try context.save() }
    context.insert(last)
    context.processPendingChanges()
    let gone = isStored ? last : first
    entry.account = gone
    card.account = gone
    context.processPendingChanges()
    try context.save()
    let account = try #require(try context.fetch(FetchDescriptor<Account>()).first)
    #expect(account.entries == [entry] && account.card === card)
    undo.undo()
    if isSavedBetween { try context.save() }
    #expect(entry.account == nil && card.account == nil)
    #expect(account.entries.isEmpty && account.card == nil)
    #expect(context.invariantViolations() == [])
    undo.redo()
    #expect(entry.account === account && card.account === account)
    #expect(account.entries == [entry] && account.card === card)
    undo.undo()
    context.delete(account)
    try context.save()
    let other = ModelContext(context.container)
    #expect(try other.fetchCount(FetchDescriptor<Entry>()) == 1)
    #expect(try other.fetchCount(FetchDescriptor<Account>()) == 0)
  }
}
