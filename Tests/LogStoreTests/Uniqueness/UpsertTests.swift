import LogStore
import SwiftData
import Testing

@Suite struct `A new model whose unique value another model has` {
  let context: ModelContext

  init() throws { context = try makeUniqueContext() }

  func accounts() throws -> [Account] {
    try ModelContext(context.container).fetch(FetchDescriptor(sortBy: [SortDescriptor(\.number)]))
  }

  @Test func `becomes an update of it, which keeps its identifier`() throws {
    let old = Account(1, "old")
    old.note = "kept nowhere"
    context.insert(old)
    try context.save()
    let identifier = old.persistentModelID

    let new = Account(1, "new")
    context.insert(new)
    #expect(
      try context.fetchCount(FetchDescriptor<Account>()) == 2,
      "both are there until the save"
    )
    try context.save()

    #expect(new.persistentModelID == identifier)
    #expect(try accounts().map(\.name) == ["new"])
    #expect(
      try accounts().map(\.note) == [nil],
      "attributes are the new model's, defaults included"
    )
    #expect(!context.hasChanges)
  }

  @Test func `leaves the context to the object that was there, which has the new values`() throws {
    let old = Account(1, "old")
    context.insert(old)
    try context.save()
    let new = Account(1, "new")
    context.insert(new)
    try context.save()

    #expect(old.modelContext === context)
    #expect(old.name == "new")
    #expect(new.modelContext == nil)
    #expect(new.name == "new", "what it holds can still be read")
    #expect(!new.isDeleted)
    #expect(context.model(for: new.persistentModelID) === old)
  }

  @Test func `stays as the object of the row when the context had none`() throws {
    try
      ({
        let other = ModelContext(context.container)
        other.insert(Account(1, "old"))
        try other.save()
      })()
    let new = Account(1, "new")
    context.insert(new)
    try context.save()
    #expect(new.modelContext === context)
    new.name = "newer"
    try context.save()
    #expect(try accounts().map(\.name) == ["newer"])
    #expect(try context.fetch(FetchDescriptor<Account>()).first === new)
  }

  @Test func `overwrites unsaved changes of the attributes it has`() throws {
    let old = Account(1, "old")
    context.insert(old)
    try context.save()
    old.name = "changed"
    context.insert(Account(1, "new"))
    try context.save()
    #expect(old.name == "new")
    #expect(try accounts().map(\.name) == ["new"])
  }

  @Test func `of several in one save, the one inserted last stays`() throws {
    let models = (1...3).map { Account(7, "\($0)") }
    for model in models { context.insert(model) }
    try context.save()
    #expect(try accounts().map(\.name) == ["3"])
    #expect(models.map { $0.modelContext == nil } == [true, true, false])
    #expect(Set(models.map(\.persistentModelID)).count == 1)
    #expect(!models[0].persistentModelID.isTemporary)
  }

  @Test func `and several of them, with a stored one, come to that one`() throws {
    let old = Account(7, "0")
    context.insert(old)
    try context.save()
    for name in ["1", "2"] { context.insert(Account(7, name)) }
    try context.save()
    #expect(old.name == "2")
    #expect(try accounts().map(\.persistentModelID) == [old.persistentModelID])
  }

  @Test func `is reported as an update`() throws {
    let old = Account(1, "old")
    context.insert(old)
    try context.save()
    nonisolated(unsafe) var told: [AnyHashable: Any] = [:]
    let observer = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave,
      object: context,
      queue: nil
    ) { told = $0.userInfo ?? [:] }
    defer { NotificationCenter.default.removeObserver(observer) }
    context.insert(Account(1, "new"))
    context.insert(Account(2, "other"))
    try context.save()
    let key = ModelContext.NotificationKey.self
    #expect(told[key.updatedIdentifiers] as? [PersistentIdentifier] == [old.persistentModelID])
    #expect((told[key.insertedIdentifiers] as? [PersistentIdentifier])?.count == 1)
  }

  @Test func `can be inserted once more after it has left`() throws {
    let old = Account(1, "old")
    context.insert(old)
    try context.save()
    let new = Account(1, "new")
    context.insert(new)
    try context.save()
    new.name = "newer"
    context.insert(new)
    try context.save()
    #expect(old.name == "newer")
    #expect(try accounts().count == 1)
  }

  @Test(arguments: [false, true])
  func `may be one that was deleted, and writes what it was, read or not`(isRead: Bool) throws {
    try
      ({
        let other = ModelContext(context.container)
        other.insert(Account(1, "first"))
        try other.save()
      })()
    let first = try #require(try context.fetch(FetchDescriptor<Account>()).first)
    if isRead { #expect(first.name == "first") }
    context.delete(first)
    try context.save()
    let second = Account(1, "second")
    second.note = "second's"
    context.insert(second)
    try context.save()
    context.insert(first)
    try context.save()
    #expect(try accounts().map(\.name) == ["first"])
    #expect(try accounts().map(\.note) == [nil])
    #expect(second.name == "first")
  }

  @Test func `is not hindered by one that is deleted in the same save`() throws {
    let old = Account(1, "old")
    context.insert(old)
    try context.save()
    context.delete(old)
    let new = Account(1, "new")
    context.insert(new)
    try context.save()
    #expect(new.persistentModelID != old.persistentModelID)
    #expect(try accounts().map(\.name) == ["new"])
  }

  @Test func `is not hindered by one that gives up its value in the same save`() throws {
    let old = Account(1, "old")
    context.insert(old)
    try context.save()
    old.number = 2
    context.insert(Account(1, "new"))
    try context.save()
    #expect(try accounts().map(\.name) == ["new", "old"])
  }

  @Test func `becomes an update of one that takes the value in the same save`() throws {
    let old = Account(1, "old")
    context.insert(old)
    try context.save()
    old.number = 2
    context.insert(Account(2, "new"))
    try context.save()
    #expect(old.name == "new")
    #expect(try accounts().map(\.number) == [2])
  }

  @Test func `shows in a context that fetched the old values once it fetches anew`() throws {
    context.insert(Account(1, "old"))
    try context.save()
    context.insert(Account(1, "new"))
    try context.save()
    let sibling = ModelContext(context.container)
    #expect(try sibling.fetch(FetchDescriptor<Account>()).map(\.name) == ["new"])
  }

  @Test func `is found over another opening of the store, without an index at hand`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "accounts.store")
    func open() throws -> ModelContext {
      ModelContext(
        try ModelContainer(
          for: uniqueSchema,
          configurations: [LogStoreConfiguration(url: url, durability: .relaxed)]
        )
      )
    }
    for round in 1...3 {
      let context = try open()
      for number in 1...100 { context.insert(Account(number, "round \(round)")) }
      try context.save()
    }
    let found = try open().fetch(FetchDescriptor<Account>())
    #expect(found.count == 100)
    #expect(Set(found.map(\.name)) == ["round 3"])
  }

  @Test func `is found again after the store was erased and filled anew`() throws {
    context.insert(Account(1, "old"))
    try context.save()
    try context.container.erase()
    let other = ModelContext(context.container)
    for name in ["new", "newer"] {
      other.insert(Account(1, name))
      try other.save()
    }
    #expect(try accounts().map(\.name) == ["newer"])
  }

  @Test func `is found among thousands, whatever else is saved with it`() throws {
    var expected: [Int: String] = [:]
    var random = SeededRandom(seed: 20)
    for round in 0..<8 {
      for _ in 0..<500 {
        let number = random.next(below: 1500)
        context.insert(Account(number, "\(round)"))
        expected[number] = "\(round)"
      }
      for account in try context.fetch(FetchDescriptor<Account>()) where random.next(below: 20) == 0
      {
        guard !context.insertedModelsArray.contains(where: { $0 === account }) else { continue }
        guard
          !context.insertedModelsArray.contains(where: {
            ($0 as? Account)?.number == account.number
          })
        else { continue }
        context.delete(account)
        expected[account.number] = nil
      }
      try context.save()
    }
    let found = Dictionary(uniqueKeysWithValues: try accounts().map { ($0.number, $0.name) })
    #expect(found == expected, "seed 20")
  }
}

/// Numbers that are the same in every run (splitmix64).
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  mutating func next(below bound: Int) -> Int { Int(truncatingIfNeeded: next() % UInt64(bound)) }
}
