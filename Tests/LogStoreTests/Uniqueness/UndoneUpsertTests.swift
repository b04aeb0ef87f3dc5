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

  /// Runs a closure as one group of the undo manager.
  private func group(_ body: () throws -> Void) rethrows {
    undo.groupsByEvent = false
    undo.beginUndoGrouping()
    try body()
    undo.endUndoGrouping()
  }

  @Test func `leaves both ends of a pair as the save made them`() throws {
    let card = Card("1111")
    let old = Account(1, "old")
    group {
      context.insert(card)
      context.insert(old)
      old.card = card
    }
    try context.save()
    group {
      let new = Account(1, "new")
      context.insert(new)
      new.card = card
    }
    try context.save()
    for step in [undo.undo, undo.redo, undo.undo] {
      step()
      try context.save()
      #expect(card.account === old && old.card === card)
      let stored = try ModelContext(context.container).fetch(FetchDescriptor<Account>())
      #expect(stored.map { $0.card?.digits } == ["1111"])
    }
    #expect(context.invariantViolations() == [])
  }

  @Test func `moves a member to its former owner at both ends`() throws {
    let (first, second) = (Bank("first"), Bank("second"))
    let old = Account(1, "old")
    group {
      for model in [first, second] { context.insert(model) }
      context.insert(old)
      old.bank = first
    }
    try context.save()
    group { old.bank = first }
    group {
      let new = Account(1, "new")
      context.insert(new)
      new.bank = second
    }
    try context.save()
    #expect(second.accounts == [old])
    undo.undo()
    undo.undo()
    for _ in 0..<2 {
      let owner = try #require(old.bank)
      for bank in [first, second] { #expect(bank.accounts == (bank === owner ? [old] : [])) }
      try context.save()
    }
    #expect(context.invariantViolations() == [])
  }

  /// Expects that each list has the members whose own ends lead to its owner.
  private func expectMatchingEnds() throws {
    let accounts = try context.fetch(FetchDescriptor<Account>())
    for bank in try context.fetch(FetchDescriptor<Bank>()) {
      #expect(Set(bank.accounts) == Set(accounts.filter { $0.bank === bank }))
    }
    let entries = try context.fetch(FetchDescriptor<Entry>())
    for account in accounts {
      #expect(Set(account.entries) == Set(entries.filter { $0.account === account }))
    }
    #expect(context.invariantViolations() == [])
  }

  /// The new owner of a member becomes the old one.
  @Test(arguments: [false, true])
  func `has in a list what leads to its owner, whose row a new one took`(isSaved: Bool) throws {
    let (old, entry) = (Account(1, "old"), Entry(1))
    group {
      context.insert(old)
      context.insert(entry)
      entry.account = old
    }
    try context.save()
    group {
      let new = Account(1, "new")
      new.entries.append(entry)
      context.insert(new)
    }
    try context.save()
    for step in [undo.undo, undo.redo, undo.undo, undo.redo] {
      step()
      try expectMatchingEnds()
      if isSaved { try context.save() }
    }
    try context.save()
    try expectMatchingEnds()
  }

  /// A new member becomes the old one, which has been moved meanwhile.
  @Test(arguments: [false, true])
  func `has in a list a member whose row a new one took`(isMovedBefore: Bool) throws {
    let banks = [Bank("a"), Bank("b")]
    let old = Account(1, "old")
    group {
      for bank in banks { context.insert(bank) }
      context.insert(old)
      old.bank = banks[1]
    }
    try context.save()
    if isMovedBefore { group { old.bank = banks[0] } }
    group {
      let new = Account(1, "new")
      context.insert(new)
      new.bank = banks[isMovedBefore ? 1 : 0]
    }
    group { banks[0].accounts.append(old) }
    if !isMovedBefore { undo.undo() }
    try context.save()
    for step in [undo.redo, undo.undo, undo.undo, undo.redo] {
      step()
      try expectMatchingEnds()
    }
    try context.save()
    try expectMatchingEnds()
  }

  @Test func `has no end at a member that comes back`() throws {
    group { context.insert(Account(2, "old")) }
    try context.save()
    let tag = Tag("x")
    group {
      let (new, other) = (Account(2, "new"), Account(3))
      context.insert(other)
      context.insert(tag)
      tag.accounts.append(other)
      context.insert(new)
      new.tags.append(tag)
    }
    try context.save()
    group { context.delete(tag) }
    try context.save()
    undo.undo()
    undo.undo()
    undo.redo()
    try context.save()
    let accounts = try context.fetch(FetchDescriptor<Account>())
    for account in tag.accounts { #expect(accounts.contains(account)) }
    #expect(context.invariantViolations() == [])
  }

  @Test func `leaves a list without the model that was merged away`() throws {
    let bank = Bank("b")
    let (first, last) = (Account(1, "first"), Account(1, "last"))
    group {
      context.insert(bank)
      context.insert(first)
      bank.accounts = [first]
    }
    group {
      context.insert(last)
      bank.accounts.remove(at: 0)
    }
    try context.save()
    undo.undo()
    try context.save()
    let stored = try ModelContext(context.container).fetch(FetchDescriptor<Bank>())
    #expect(bank.accounts.map(\.name) == stored.first?.accounts.map(\.name))
    #expect(bank.accounts.allSatisfy { $0.modelContext === context })
  }

  @Test func `takes back the ends that a save moved to a model whose insertion is undone`() throws {
    let tags = [Tag("x"), Tag("y")]
    group { for tag in tags { context.insert(tag) } }
    try context.save()
    let last = Account(1, "last")
    group {
      tags[0].accounts.append(Account(1, "first"))
      tags[1].accounts.append(last)
    }
    try context.save()
    group { context.delete(last) }
    try context.save()
    undo.undo()
    undo.undo()
    try context.save()
    let stored = try ModelContext(context.container).fetch(FetchDescriptor<Account>())
    for tag in tags { #expect(tag.accounts.map(\.name) == stored.map(\.name)) }
    #expect(!context.hasChanges)
  }

  /// Both ends of one link are merged into models of the context.
  @Test(arguments: 0...3) func `lets the merged models go`(undoCount: Int) throws {
    weak var members: (any PersistentModel)?
    weak var merged: (any PersistentModel)?
    do {
      let (old, tag) = (Account(8), Marker("a"))
      group { context.insert(old) }
      try context.save()
      group {
        context.insert(tag)
        tag.accounts.append(old)
      }
      try context.save()
      group {
        let (account, marker) = (Account(8), Marker("a"))
        (members, merged) = (account, marker)
        context.insert(account)
        account.markers.append(tag)
        context.insert(marker)
        marker.accounts.append(account)
      }
      try context.save()
      for _ in 0..<undoCount { undo.undo() }
      try context.save()
      undo.removeAllActions()
      context.undoManager = nil
    }
    #expect(members == nil && merged == nil)
  }
}
