import LogStore
import SwiftData
import Testing

@testable import ModelRuntime

@Suite struct `The relationships of a model that was inserted again` {
  let context: ModelContext

  init() throws { context = try makeUniqueContext() }

  /// The account, as another context reads it from the store.
  func stored() throws -> Account {
    try #require(try ModelContext(context.container).fetch(FetchDescriptor<Account>()).first)
  }

  func insert(_ account: Account) throws -> Account {
    context.insert(account)
    try context.save()
    return account
  }

  @Test func `to one model are the new one's`() throws {
    let old = Account(1)
    old.bank = Bank("first")
    _ = try insert(old)
    let new = Account(1)
    new.bank = Bank("second")
    _ = try insert(new)
    #expect(old.bank?.name == "second")
    let banks = try ModelContext(context.container).fetch(
      FetchDescriptor<Bank>(sortBy: [SortDescriptor(\.name)])
    )
    #expect(banks.map(\.accounts.count) == [0, 1])
  }

  @Test func `to one model stay when the new one has none`() throws {
    let old = Account(1, "old")
    old.bank = Bank("first")
    _ = try insert(old)
    _ = try insert(Account(1, "new"))
    #expect(old.bank?.name == "first")
    #expect(try stored().bank?.name == "first")
    #expect(try stored().bank?.accounts.map(\.name) == ["new"])
  }

  @Test func `to many models are kept, the new one's behind them in their order`() throws {
    let old = Account(1)
    old.entries = [Entry(1), Entry(2)]
    _ = try insert(old)
    let new = Account(1)
    new.entries = [Entry(3), Entry(4)]
    _ = try insert(new)
    #expect(old.entries.map(\.amount) == [1, 2, 3, 4])
    #expect(try stored().entries.map(\.amount) == [1, 2, 3, 4])
    #expect(new.entries.isEmpty, "the object that left has none")
  }

  @Test func `from many to many are kept on both sides, and none twice`() throws {
    let red = Tag("red")
    let blue = Tag("blue")
    let old = Account(1)
    old.tags = [red, blue]
    _ = try insert(old)
    let new = Account(1)
    new.tags = [blue, Tag("green")]
    _ = try insert(new)
    #expect(old.tags.map(\.text) == ["red", "blue", "green"])
    #expect(try stored().tags.map(\.text) == ["red", "blue", "green"])
    #expect(red.accounts == [old])
    #expect(blue.accounts == [old])
    #expect(try stored().tags.allSatisfy { $0.accounts.count == 1 })
  }

  @Test func `from one to one move to the new one's partner, and the old partner is free`() throws {
    let card = Card("1111")
    let old = Account(1)
    old.card = card
    _ = try insert(old)
    let new = Account(1)
    new.card = Card("2222")
    _ = try insert(new)
    #expect(old.card?.digits == "2222")
    #expect(card.account == nil)
    let cards = try ModelContext(context.container).fetch(
      FetchDescriptor<Card>(sortBy: [SortDescriptor(\.digits)])
    )
    #expect(cards.map { $0.account?.number } == [nil, 1])
  }

  @Test func `of models that refer to it lead to the one that stays`() throws {
    let old = try insert(Account(1))
    let new = Account(1)
    let note = Note("about", about: new)
    context.insert(note)
    try context.save()
    #expect(note.about === old)
    #expect(
      try ModelContext(context.container).fetch(FetchDescriptor<Note>()).first?.about?
        .persistentModelID == old.persistentModelID
    )
  }

  @Test func `of several new ones are put together`() throws {
    let first = Account(1)
    first.bank = Bank("first's")
    first.entries = [Entry(1)]
    first.tags = [Tag("first's")]
    let last = Account(1)
    last.entries = [Entry(2)]
    last.tags = [Tag("last's")]
    context.insert(first)
    context.insert(last)
    let note = Note("about the first", about: first)
    context.insert(note)
    try context.save()
    #expect(last.bank?.name == "first's")
    #expect(last.entries.map(\.amount) == [1, 2])
    #expect(last.tags.map(\.text) == ["first's", "last's"])
    #expect(note.about === last)
    #expect(try stored().entries.map(\.amount) == [1, 2])
    #expect(try stored().bank?.accounts.count == 1)
  }

  // Some seconds; many minutes, if the time grows with the square of the number.
  @Test(.timeLimit(.minutes(30)))
  func `of thousands of new ones are put together in their order`() throws {
    let bank = Bank("all")
    let count = 40_000
    for number in 0..<count {
      let account = Account(7, "\(number)")
      account.bank = bank
      account.entries = [Entry(number)]
      context.insert(account)
    }
    let note = Note("about the first", about: bank.accounts.first)
    context.insert(note)
    try context.save()
    #expect(try stored().name == "\(count - 1)")
    #expect(try stored().bank?.name == "all")
    #expect(try stored().entries.map(\.amount) == Array(0..<count))
    #expect(note.about?.name == "\(count - 1)")
    #expect(bank.accounts.count == 1)
  }

  @Test func `to many models are kept without being read`() throws {
    try
      ({
        let other = ModelContext(context.container)
        let old = Account(1)
        old.entries = [Entry(1), Entry(2)]
        other.insert(old)
        try other.save()
      })()
    let old = try #require(try context.fetch(FetchDescriptor<Account>()).first)
    let new = Account(1)
    new.entries = [Entry(3), Entry(4)]
    context.insert(new)
    _ = MergedRelationships(of: new, over: [old]) { $0 }
    let entries = try #require(old._$state.descriptor.property(named: "entries"))
    guard case .unloaded = old._$state.relation(entries) else {
      Issue.record("the stored list was read")
      return
    }
    try context.save()
    #expect(old.entries.map(\.amount) == [1, 2, 3, 4])
    #expect(try stored().entries.map(\.amount) == [1, 2, 3, 4])
  }

  @Test func `with unsaved changes of the stored one keep them`() throws {
    let old = try insert(Account(1))
    old.bank = Bank("pending")
    old.entries.append(Entry(1))
    let new = Account(1)
    new.entries = [Entry(2)]
    _ = try insert(new)
    #expect(old.bank?.name == "pending")
    #expect(old.entries.map(\.amount) == [1, 2])
    #expect(try stored().entries.map(\.amount) == [1, 2])
  }

  @Test(arguments: [false, true], [false, true])
  func `that it had for a while before its save stay those of the row`(
    isSetAtOtherEnd: Bool,
    isAfterInsertion: Bool
  ) throws {
    let red = Tag("red")
    let blue = Tag("blue")
    let old = Account(1)
    old.tags = [red, blue]
    _ = try insert(old)
    let new = Account(1, "new")
    if isAfterInsertion { context.insert(new) }
    if isSetAtOtherEnd {
      red.accounts.append(new)
      red.accounts.removeAll { $0 == new }
    } else {
      new.tags = [red, Tag("green")]
      new.tags = []
    }
    _ = try insert(new)
    for context in [context, ModelContext(context.container)] {
      let account = try #require(try context.fetch(FetchDescriptor<Account>()).first)
      #expect(account.name == "new")
      #expect(account.tags.map(\.text) == ["red", "blue"])
      let tagged = FetchDescriptor<Tag>(
        predicate: #Predicate { !$0.accounts.isEmpty },
        sortBy: [SortDescriptor(\.text)]
      )
      #expect(try context.fetch(tagged).map(\.text) == ["blue", "red"])
      #expect(account.tags.allSatisfy { $0.accounts == [account] })
    }
  }

  @Test func `stay those of the row where the other end is the one that is inserted again`() throws
  {
    let container = try ModelContainer(
      for: Sticker.self,
      Hamper.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let hamper = Hamper()
    let old = Sticker("fragile")
    context.insert(hamper)
    context.insert(old)
    hamper.stickers = [old]
    try context.save()
    let new = Sticker("fragile")
    context.insert(new)
    hamper.stickers.append(new)
    hamper.stickers.removeAll { $0 === new }
    try context.save()
    for context in [context, ModelContext(container)] {
      let hamper = try #require(try context.fetch(FetchDescriptor<Hamper>()).first)
      #expect(hamper.stickers.map(\.text) == ["fragile"])
      #expect(hamper.stickers.first?.hampers == [hamper])
    }
  }
}

@Model private final class Hamper {
  @Relationship(inverse: \Sticker.hampers) var stickers: [Sticker] = []
  init() {}
}

@Model private final class Sticker {
  @Attribute(.unique) var text: String
  var hampers: [Hamper] = []
  init(_ text: String) { self.text = text }
}
