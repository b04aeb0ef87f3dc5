import Foundation
import LogStore
import Observation
import SwiftData
import Testing

// What happens between the passes of a save that makes an update of a new model: observers of a list hear of the
// merge then, before the store is asked again.

@Suite struct `A save that makes an update of a new model` {
  let context: ModelContext
  /// Banks that the context holds; an account is at the first, and a new one of its number will be at the second.
  let first = Bank("first")
  let second = Bank("second")

  init() throws {
    context = try makeUniqueContext()
    for number in 1...2 {
      let account = Account(number, "old \(number)")
      account.bank = first
      context.insert(account)
    }
    context.insert(second)
    try context.save()
    #expect(first.accounts.map(\.number) == [1, 2])
  }

  /// Inserts an account that takes the place of the first one.
  private func insertAgain() -> Account {
    let new = Account(1, "new")
    new.bank = second
    context.insert(new)
    return new
  }

  /// Saves, and calls something when the merge takes the stored account out of the first bank's list.
  private func save(meanwhile change: @escaping () -> Void) throws {
    nonisolated(unsafe) let change = change
    _ = withObservationTracking {
      first.accounts.count
    } onChange: {
      change()
    }
    try context.save()
  }

  /// The names of a bank's accounts, as another context reads them from the store.
  private func storedNames(of bank: Bank) throws -> [String] {
    let identifier = bank.persistentModelID
    let other = ModelContext(context.container)
    return (other.model(for: identifier) as? Bank)?.accounts.map(\.name) ?? []
  }

  @Test func `leaves the lists of other models as they were when it fails`() throws {
    let foreign = Account(3)
    let other = ModelContext(context.container)
    other.insert(foreign)
    let new = insertAgain()
    #expect(throws: SwiftDataError.self) {
      // Refused, which the save says before it writes.
      try save { context.insert(foreign) }
    }
    #expect(first.accounts.map(\.name) == ["old 1", "old 2"])
    #expect(first.accounts.allSatisfy { $0.bank === first })
    #expect(second.accounts.map(\.name) == ["new"])
    #expect(new.bank === second && new.persistentModelID.isTemporary)
    try context.save()
    #expect(first.accounts.map(\.name) == ["old 2"])
    #expect(second.accounts.map(\.name) == ["new"])
    #expect(try storedNames(of: first) == ["old 2"])
    #expect(try storedNames(of: second) == ["new"])
  }

  @Test(arguments: [false, true])
  func `puts it into the new one's place although others have moved it meanwhile`(
    isAppended: Bool
  ) throws {
    let held = first.accounts
    let other = ModelContext(context.container)
    let new = Account(1, "new")
    context.insert(new)
    // To the same bank as before, by what this context has read.
    if isAppended { first.accounts.append(new) } else { new.bank = first }
    let moved = try #require(other.model(for: held[0].persistentModelID) as? Account)
    moved.bank = other.model(for: second.persistentModelID) as? Bank
    try other.save()
    try context.save()
    #expect(try storedNames(of: first).sorted() == ["new", "old 2"])
    #expect(try storedNames(of: second).isEmpty)
    #expect(held[0].bank === first && held[0].name == "new")
  }

  @Test func `keeps its place in the list of the same bank`() throws {
    let new = Account(1, "new")
    new.bank = first
    context.insert(new)
    try context.save()
    #expect(first.accounts.map(\.name) == ["new", "old 2"])
    #expect(try storedNames(of: first) == ["new", "old 2"])
  }

  @Test(arguments: [false, true])
  func `inserts it if others delete the row meanwhile`(isHeld: Bool) throws {
    let held = isHeld ? first.accounts : []
    let identifier = first.accounts[0].persistentModelID
    let other = ModelContext(context.container)
    let new = insertAgain()
    try save {
      guard let account = other.model(for: identifier) as? Account else { return }
      other.delete(account)
      #expect(throws: Never.self) { try other.save() }
    }
    #expect(new.modelContext === context && !new.hasChanges)
    #expect(new.persistentModelID != identifier && !new.persistentModelID.isTemporary)
    #expect(first.accounts.map(\.name) == ["old 2"])
    #expect(second.accounts.map(\.name) == ["new"])
    #expect(try storedNames(of: first) == ["old 2"])
    #expect(try storedNames(of: second) == ["new"])
    #expect(try context.fetchCount(FetchDescriptor<Account>()) == 2)
    #expect(!context.hasChanges)
    withExtendedLifetime(held) {}
  }
}
