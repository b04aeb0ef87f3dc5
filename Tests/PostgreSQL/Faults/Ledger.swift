import Foundation
import ModelRuntime

/// What a store must hold, kept beside it in the simplest way; and the changes that are made to both.
struct Ledger: Equatable {
  struct Line: Equatable {
    var balance = 0
    var entries: [Int] = []
    var tags: [String] = []
  }

  private(set) var lines: [String: Line] = [:]
  private(set) var freeEntries: Set<Int> = []
  private var made = 0

  static func == (one: Ledger, other: Ledger) -> Bool {
    one.lines == other.lines && one.freeEntries == other.freeEntries
  }

  /// A change of a store that is one save.
  enum Change: Sendable {
    case open(code: String, entries: [Int])
    case add(entry: Int)
    case pay(code: String, amount: Int)
    case upsert(code: String, balance: Int)
    case append(code: String, entry: Int)
    case tag(code: String, text: String)
    case close(code: String)
    case raise(amount: Int)
  }

  /// A change that makes sense now.
  mutating func nextChange(_ random: inout some RandomNumberGenerator) -> Change {
    made += 1
    guard let code = lines.keys.sorted().randomElement(using: &random) else {
      return .open(code: "\(made)", entries: [made])
    }
    // Few accounts, so that all of them can be compared each time.
    if lines.count > 12 { return .close(code: code) }
    return switch Int.random(in: 0..<10, using: &random) {
    case 0, 1:
      .open(
        code: "\(made)",
        entries: (0..<Int.random(in: 0...3, using: &random)).map { made * 10 + $0 }
      )
    case 2: .add(entry: made)
    case 3: .pay(code: code, amount: made)
    case 4: .upsert(code: code, balance: made)
    case 5: .append(code: code, entry: made * 10)
    case 6: .tag(code: code, text: "\(made)")
    case 7, 8: .raise(amount: made)
    default: .close(code: code)
    }
  }

  mutating func apply(_ change: Change) {
    switch change {
    case .open(let code, let entries): lines[code] = Line(entries: entries)
    case .add(let entry): freeEntries.insert(entry)
    case .pay(let code, let amount): lines[code]?.balance += amount
    case .upsert(let code, let balance): lines[code]?.balance = balance
    case .append(let code, let entry): lines[code]?.entries.append(entry)
    case .tag(let code, let text): lines[code]?.tags.append(text)
    case .close(let code): lines[code] = nil
    case .raise(let amount): for code in lines.keys { lines[code]?.balance += amount }
    }
  }

  /// What a store holds.
  init(of container: ModelContainer) throws {
    let context = ModelContext(container)
    for account in try context.fetch(FetchDescriptor<Account>()) {
      if lines[account.code] != nil { throw Doubled(code: account.code) }
      lines[account.code] = Line(
        balance: account.balance,
        entries: account.entries.map(\.number),
        tags: account.tags.map(\.text)
      )
    }
    let free = try context.fetch(FetchDescriptor<Entry>()).filter { $0.account == nil }.map(
      \.number
    )
    freeEntries = Set(free)
    if free.count != freeEntries.count { throw Doubled(code: "an entry") }
  }

  init() {}

  /// Goes on from what a store holds; changes do not get the numbers of earlier ones.
  mutating func goOn(from found: Ledger) {
    lines = found.lines
    freeEntries = found.freeEntries
  }

  struct Doubled: Error, CustomStringConvertible {
    let code: String
    var description: String { "there twice: \(code)" }
  }
}

extension Ledger.Change {
  /// Makes the change in a context and saves it.
  func make(in context: ModelContext) throws {
    func account(_ code: String) throws -> Account {
      let found = try context.fetch(
        FetchDescriptor<Account>(predicate: #Predicate { $0.code == code })
      )
      guard found.count == 1 else { throw Missing(code: code, count: found.count) }
      return found[0]
    }
    switch self {
    case .open(let code, let entries):
      let account = Account(code)
      account.entries = entries.map(Entry.init)
      context.insert(account)
    case .add(let entry): context.insert(Entry(entry))
    case .pay(let code, let amount): try account(code).balance += amount
    case .upsert(let code, let balance):
      // A new object, which becomes a change of the one that has the code.
      let account = try account(code)
      let other = ModelContext(context.container)
      let copy = Account(code, balance: balance, note: account.note)
      other.insert(copy)
      return try other.save()
    case .append(let code, let entry): try account(code).entries.append(Entry(entry))
    case .tag(let code, let text): try account(code).tags.append(Tag(text))
    case .close(let code): context.delete(try account(code))
    // The server adds: a batch that was made twice shows.
    case .raise(let amount): try context.batchUpdate(Account.self, .add(amount, to: \.balance))
    }
    try context.save()
  }

  struct Missing: Error, CustomStringConvertible {
    let code: String
    let count: Int
    var description: String { "account \(code) is there \(count) times" }
  }
}
