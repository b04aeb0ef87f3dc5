import Foundation
import PostgresStore
import SwiftData

/// The growth of the costs of a store on a server with the number of its models, or of the transactions in its history.
///
/// Everything is done once in a container that was opened for it (cold: new sessions, nothing kept), and then
/// again and again (warm: the median).
final class ServerGrowth {
  typealias Cost = (cold: Double, warm: Double)

  private let url: String
  private let count: Int
  private let namespace: String
  private var random = SystemRandomNumberGenerator()

  private static let repetitions = 40

  /// The names of the measurements, in order.
  static let names = [
    "a member of an owner of N, counted and summed: insert", "  change", "  delete",
    "two one-to-ones of N exchange their partners", "a text of N, with trigrams: insert",
    "  find by a part", "show in a list of N what another machine saved",
    "fetch one transaction behind N", "delete one of N transactions", "delete N transactions, each",
    "upkeep: delete one of N transactions that is too old", "  N transactions, each",
  ]

  /// Fills a namespace.
  init(_ url: String, count: Int) throws {
    self.url = url
    self.count = count
    namespace = "growth_\(count)"
    let container = try container()
    let account = Account("all")
    let first = ModelContext(container)
    first.insert(account)
    try first.save()
    for start in stride(from: 0, to: count, by: 1000) {
      let context = ModelContext(container)
      let account = context.model(for: account.persistentModelID) as? Account
      for number in start..<min(start + 1000, count) {
        let entry = Entry(number)
        context.insert(entry)
        entry.account = account
        let passenger = Passenger(number)
        context.insert(passenger)
        passenger.seat = Seat(number)
        context.insert(Remark("remark \(number) of \(number &* 7919 % 99_991)"))
      }
      try context.save()
    }
  }

  private func container(historyAge: Duration? = nil) throws -> ModelContainer {
    var configuration = PostgresStoreConfiguration(url: url, namespace: namespace)
    configuration.historyAge = historyAge
    return try ModelContainer(
      for: Schema([
        Account.self, Entry.self, Seat.self, Passenger.self, Remark.self, Visit.self,
      ]),
      configurations: [configuration]
    )
  }

  /// Measures with each number of models, and prints a line for each measurement.
  @MainActor static func run(_ url: String, counts: [Int]) throws {
    let costs = try counts.map { try ServerGrowth(url, count: $0).measure() }
    let head = counts.map { "N = \($0)" }.map { $0.padded(to: 22) }.joined()
    print("microseconds, cold and warm".padding(toLength: 58, withPad: " ", startingAt: 0) + head)
    for (place, name) in names.enumerated() {
      let line = costs.map {
        String(format: "%.0f", $0[place].cold).padded(to: 12)
          + String(format: "%.0f", $0[place].warm).padded(to: 10)
      }
      print(name.padding(toLength: 58, withPad: " ", startingAt: 0) + line.joined())
    }
  }

  /// - Returns: The microseconds of all measurements.
  @MainActor func measure() throws -> [Cost] {
    try members() + [exchange()] + texts() + [following()] + history() + upkeep()
  }

  /// Does something in a new container, and then again and again.
  private func measure(
    _ prepare: (ModelContext) throws -> Void = { _ in },
    _ step: (ModelContext) throws -> Void
  ) throws -> Cost {
    let context = ModelContext(try container())
    var times: [Double] = []
    for _ in 0...ServerGrowth.repetitions {
      try prepare(context)
      let start = ContinuousClock.now
      try step(context)
      times.append(start.duration(to: .now) / .microseconds(1))
    }
    let warm = times.dropFirst().sorted()
    return (times[0], warm[warm.count / 2])
  }

  private func number() -> Int { Int.random(in: 0..<count, using: &random) }

  private func members() throws -> [Cost] {
    var account: Account?
    var entry: Entry?
    func prepare(_ context: ModelContext) throws {
      account = try context.fetch(FetchDescriptor<Account>()).first
      let number = number()
      entry = try context.fetch(
        FetchDescriptor<Entry>(predicate: #Predicate { $0.number == number })
      ).first
    }
    let inserted = try measure(prepare) { context in
      let new = Entry(-1)
      context.insert(new)
      new.account = account
      try context.save()
    }
    let changed = try measure(prepare) { context in
      entry?.amount += 1
      try context.save()
    }
    let deleted = try measure(prepare) { context in
      if let entry { context.delete(entry) }
      try context.save()
    }
    return [inserted, changed, deleted]
  }

  private func exchange() throws -> Cost {
    var pair: [Passenger] = []
    return try measure { context in
      let numbers = [number(), number()]
      pair = try context.fetch(
        FetchDescriptor<Passenger>(predicate: #Predicate { numbers.contains($0.number) })
      )
    } _: { context in
      let seats = pair.map(\.seat)
      for (passenger, seat) in zip(pair, seats.reversed()) { passenger.seat = seat }
      try context.save()
    }
  }

  private func texts() throws -> [Cost] {
    let inserted = try measure { context in
      context.insert(Remark("a remark \(UInt32.random(in: 0...UInt32.max, using: &random))"))
      try context.save()
    }
    let found = try measure { context in
      let part = "remark \(number()) of"
      let remarks = FetchDescriptor<Remark>(predicate: #Predicate { $0.text.contains(part) })
      _ = try context.fetch(remarks)
    }
    return [inserted, found]
  }

  @MainActor private func following() throws -> Cost {
    let list = try container()
    let entries = try ResultsObserver<Entry, Never>(
      sortBy: [SortDescriptor(\.number)],
      modelContext: list.mainContext
    )
    return try measure { _ in
      // Not while the bell of the save before is ringing.
      RunLoop.main.run(until: .now + 0.04)
    } _: { context in
      let shown = entries.results.count
      context.insert(Entry(-2))
      try context.save()
      while entries.results.count == shown { RunLoop.main.run(until: .now + 0.0002) }
    }
  }

  private func save(_ author: String?, in context: ModelContext) throws {
    context.author = author
    context.insert(Visit())
    try context.save()
  }

  private func history() throws -> [Cost] {
    let context = ModelContext(try container())
    let everything = HistoryDescriptor<DefaultHistoryTransaction>()
    try context.deleteHistory(everything)
    for _ in 0..<count { try save(nil, in: context) }
    guard var token = try context.fetchHistory(everything).last?.token else { return [] }
    let behind = try measure {
      try save(nil, in: $0)
    } _: { context in
      let newer = HistoryDescriptor<DefaultHistoryTransaction>(
        predicate: #Predicate { $0.token > token }
      )
      while true {
        guard let last = try context.fetchHistory(newer).last else { continue }
        token = last.token
        break
      }
    }
    let one = try measure {
      try save("one", in: $0)
    } _: { context in
      try context.deleteHistory(
        HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.author == "one" })
      )
    }
    let start = ContinuousClock.now
    try context.deleteHistory(everything)
    let each = start.duration(to: .now) / .microseconds(1) / Double(count)
    return [behind, one, (each, each)]
  }

  /// The work of a store beside its saves, from its opening until the transactions are gone.
  private func upkeep() throws -> [Cost] {
    let context = ModelContext(try container())
    for _ in 0..<count { try save(nil, in: context) }
    let session = try Session(url)
    let commits = "\(namespace)._logstore_commit"
    try session.prepare("left", "SELECT count(*) FROM \(commits) WHERE xid > 0")
    func time(_ age: Duration, until left: Int64) throws -> Double {
      let start = ContinuousClock.now
      let container = try container(historyAge: age)
      while try session.run("left").integer(0, 0) > left {}
      withExtendedLifetime(container) {}
      return start.duration(to: .now) / .microseconds(1)
    }
    var times: [Double] = []
    for _ in 0..<5 {
      try save(nil, in: context)
      let all = try session.run("left").integer(0, 0)
      try session.execute(
        "UPDATE \(commits) SET at = at - interval '2 days' WHERE xid = (SELECT max(xid) FROM \(commits))"
      )
      times.append(try time(.seconds(86_400), until: all - 1))
    }
    let each = try time(.zero, until: 0) / Double(count)
    return [(times[0], times.sorted()[2]), (each, each)]
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
}

/// Counts and adds up its entries.
@Model
final class Account {
  var name: String
  @Relationship(inverse: \Entry.account) var entries: [Entry] = []
  @Derived(.count(\Account.entries)) var entryCount: Int
  @Derived(.sum(of: \Entry.amount, over: \Account.entries)) var balance: Int

  init(_ name: String) { self.name = name }
}

@Model
final class Entry {
  #Index<Entry>([\.number])
  var number: Int
  var amount = 1
  var account: Account?

  init(_ number: Int) { self.number = number }
}

@Model
final class Seat {
  var number: Int
  @Relationship(inverse: \Passenger.seat) var passenger: Passenger?

  init(_ number: Int) { self.number = number }
}

@Model
final class Passenger {
  #Index<Passenger>([\.number])
  var number: Int
  var seat: Seat?

  init(_ number: Int) { self.number = number }
}

@Model
final class Remark {
  #Index<Remark>([\.text])
  var text: String

  init(_ text: String) { self.text = text }
}

@Model
final class Visit {
  var time = 0

  init() {}
}
