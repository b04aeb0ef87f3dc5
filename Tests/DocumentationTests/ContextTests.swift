import Foundation
import SwiftData
import Testing

// The snippets of the article Contexts, threads and actors, as they are printed there.

@Model
final class Account {
  var owner: String
  var balance: Int
  var log: [String] = []

  init(owner: String, balance: Int = 0) {
    self.owner = owner
    self.balance = balance
  }
}

@ModelActor
actor Bank {
  func open(_ owner: String) throws -> PersistentIdentifier {
    let account = Account(owner: owner)
    modelContext.insert(account)
    try modelContext.save()
    return account.persistentModelID
  }

  func deposit(_ amount: Int, to id: PersistentIdentifier) throws -> Int? {
    guard let account = self[id, as: Account.self] else { return nil }
    account.balance += amount
    try modelContext.save()
    return account.balance
  }
}

@Suite struct `The article on contexts` {
  let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: Account.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
  }

  @Test func `reads and writes from async code`() async throws {
    let context = ModelContext(container)
    context.insert(Account(owner: "Grace", balance: -10))
    context.insert(Account(owner: "Ada", balance: 100))
    try context.save()

    let owners = try await container.read { context in
      try context.fetch(FetchDescriptor<Account>(sortBy: [SortDescriptor(\.owner)])).map(\.owner)
    }
    #expect(owners == ["Ada", "Grace"])

    try await container.write(author: "bank") { context in
      for account in try context.fetch(FetchDescriptor<Account>()) where account.balance > 0 {
        account.balance += account.balance / 50
      }
    }
    let balances = try await container.read { context in
      try context.fetch(FetchDescriptor<Account>(sortBy: [SortDescriptor(\.owner)])).map(\.balance)
    }
    #expect(balances == [102, -10])
  }

  @Test func `passes identifiers between contexts`() async throws {
    let context = ModelContext(container)
    let account = Account(owner: "Ada")
    context.insert(account)
    try context.save()

    let id = account.persistentModelID
    let container = container
    let owner = await Task.detached {
      let context = ModelContext(container)
      let account = context.model(for: id) as? Account
      return account?.owner
    }.value
    #expect(owner == "Ada")
  }

  @Test func `counts in one actor, so that no deposit is lost`() async throws {
    let bank = Bank(modelContainer: container)
    let id = try await bank.open("Ada")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 1...20 {
        group.addTask { _ = try await bank.deposit(5, to: id) }
      }
      try await group.waitForAll()
    }
    #expect(try await bank.deposit(0, to: id) == 100)
  }

  @Test func `saves different properties of one model side by side`() throws {
    let first = ModelContext(container)
    first.insert(Account(owner: "Ada"))
    try first.save()
    let second = ModelContext(container)

    let mine = try #require(try first.fetch(FetchDescriptor<Account>()).first)
    let yours = try #require(try second.fetch(FetchDescriptor<Account>()).first)
    mine.owner = "Ada Lovelace"
    yours.balance = 7
    try first.save()
    try second.save()

    let found = try #require(try ModelContext(container).fetch(FetchDescriptor<Account>()).first)
    #expect(found.owner == "Ada Lovelace")
    #expect(found.balance == 7)
  }

  @Test func `adds, and merges by a policy`() throws {
    let context = ModelContext(container)
    context.insert(Account(owner: "Ada", balance: 10))
    try context.save()
    let account = try #require(try context.fetch(FetchDescriptor<Account>()).first)
    let other = ModelContext(container)
    let theirs = try #require(try other.fetch(FetchDescriptor<Account>()).first)
    theirs.balance = 20
    try other.save()

    account.add(5, to: \.balance)
    try context.save()
    #expect(account.balance == 25)

    theirs.owner = "Ada King"
    func saveOrRollBack() throws {
      context.mergePolicy = .throw
      account.owner = "Ada Lovelace"
      do {
        try context.save()
      } catch let error as SwiftDataError {
        guard let cause = error.underlyingError as? MergeConflicts else { throw error }
        for conflict in cause.conflicts {
          print(conflict.property, conflict.read ?? "", conflict.stored ?? "", conflict.own ?? "")
        }
        context.rollback()
      }
    }
    context.mergePolicy = .throw
    _ = try context.fetch(FetchDescriptor<Account>())
    try other.save()
    try saveOrRollBack()
    #expect(account.owner == "Ada King" && !context.hasChanges)

    account.log.append("mine")
    theirs.log.append("theirs")
    try other.save()
    try context.save(
      mergePolicy: .decide { conflict in
        guard let stored = conflict.stored as? [String], let own = conflict.own as? [String] else {
          return .stored
        }
        return .value(stored + own.filter { !stored.contains($0) })
      }
    )
    #expect(account.log == ["theirs", "mine"])
  }

  @Test func `takes a block back by rolling back`() throws {
    struct Overdrawn: Error {}
    let context = ModelContext(container)
    let account = Account(owner: "Ada", balance: 10)
    context.insert(account)
    try context.save()

    func withdraw(_ amount: Int) throws {
      do {
        try context.transaction {
          account.balance -= amount
          if account.balance < 0 { throw Overdrawn() }
        }
      } catch {
        context.rollback()
        throw error
      }
    }
    #expect(throws: Overdrawn.self) { try withdraw(11) }
    #expect(account.balance == 10)
    try withdraw(4)
    #expect(account.balance == 6)
  }

  @MainActor
  @Test func `shows the main context what others saved`() throws {
    let shown = container.mainContext
    #expect(try shown.fetchCount(FetchDescriptor<Account>()) == 0)
    let background = ModelContext(container)
    background.author = "import"
    background.insert(Account(owner: "Ada"))
    try background.save()
    #expect(try shown.fetch(FetchDescriptor<Account>()).map(\.owner) == ["Ada"])
  }
}
