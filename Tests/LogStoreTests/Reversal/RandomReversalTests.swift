import LogStore
import SwiftData
import Testing

@Suite struct `Taking back what a random author did` {
  @Test(arguments: 1...6) func `leaves the others' models, and his own as they were`(
    seed: UInt64
  ) throws {
    var random = SeededRandom(seed: seed)
    let store = try HistoryStore(.init(.onDemand, historyByteCount: 1 << 24))
    var (mine, theirs) = (Author("K", in: store), Author("U", in: store))
    for _ in 0..<6 {
      try mine.save(using: &random)
      try theirs.save(using: &random)
    }
    let token = try #require(try store.newestToken())
    let before = try State(of: ModelContext(store.container))
    for step in 0..<20 {
      if Bool.random(using: &random) {
        try mine.save(using: &random)
      } else {
        try theirs.save(using: &random)
      }
      if step == 12 {
        for store in store.container.stores(of: LogStore.self) { try store.compact() }
      }
    }
    let now = try State(of: ModelContext(store.container))

    let context = ModelContext(store.container)
    let reversal = try context.revert(author: "U", since: token)
    #expect(reversal.conflicts.isEmpty, "seed \(seed)")
    try context.save()
    let after = try State(of: ModelContext(store.container))
    #expect(after["K"] == now["K"], "seed \(seed)")
    #expect(after["U"] == before["U"], "seed \(seed)")

    // All authors, and the reversal itself.
    let whole = ModelContext(store.container)
    let transactions = try store.transactions().filter { $0.token > token }
    #expect(try whole.revert(transactions).conflicts.isEmpty, "seed \(seed)")
    try whole.save()
    #expect(try State(of: ModelContext(store.container)) == before, "seed \(seed)")
  }

  @Test(arguments: 1...6) func `keeps the store right where all change the same`(
    seed: UInt64
  ) throws {
    var random = SeededRandom(seed: seed)
    let store = try HistoryStore(.init(.onDemand, historyByteCount: 1 << 24))
    var authors = [Author("K", in: store), Author("U", in: store)]
    for index in authors.indices { authors[index].touchesAll = true }
    for _ in 0..<30 {
      try authors[Int.random(in: 0...1, using: &random)].save(using: &random)
    }
    let context = ModelContext(store.container)
    let reversal = try context.revert(author: "U")
    let shown = try State(of: context)
    try context.save()
    #expect(try State(of: ModelContext(store.container)) == shown, "seed \(seed)")
    for conflict in reversal.conflicts {
      guard case .changedSince(_, let author) = conflict.reason else { continue }
      #expect(author == "K", "seed \(seed)")
    }
  }

  /// Somebody who changes models with a name that begins with a letter of his own, or all.
  private struct Author {
    let letter: String
    let context: ModelContext
    var touchesAll = false
    private var count = 0

    init(_ letter: String, in store: HistoryStore) {
      self.letter = letter
      context = store.context(letter)
      context.automaticallyMergesChanges = true
    }

    mutating func save(using random: inout SeededRandom) throws {
      let all = try context.fetch(FetchDescriptor<Voyage>(sortBy: [SortDescriptor(\.name)]))
      let voyages = all.filter { touchesAll || $0.name.hasPrefix(letter) }
      let guests = try context.fetch(FetchDescriptor<Guest>(sortBy: [SortDescriptor(\.name)]))
        .filter { touchesAll || $0.name.hasPrefix(letter) }
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        count += 1
        let voyage = voyages.randomElement(using: &random).flatMap { $0.isDeleted ? nil : $0 }
        let other = voyages.randomElement(using: &random).flatMap { $0.isDeleted ? nil : $0 }
        let guest = guests.randomElement(using: &random).flatMap { $0.isDeleted ? nil : $0 }
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1:
          let new = Voyage("\(letter)\(count)", budget: Double(count))
          new.cabins = (0..<Int.random(in: 0..<3, using: &random)).map { Cabin(count * 10 + $0) }
          context.insert(new)
        case 2: voyage?.budget = Double(count)
        case 3: voyage?.note = Bool.random(using: &random) ? nil : "\(count)"
        case 4: voyage?.cabins.append(Cabin(count * 10))
        case 5: voyage?.cabins.first?.voyage = other
        case 6: voyage?.cabins.shuffle(using: &random)
        case 7: if let cabin = voyage?.cabins.last { context.delete(cabin) }
        case 8: context.insert(Guest("\(letter)\(count)"))
        case 9:
          if let voyage, let guest {
            if voyage.guests.contains(guest) {
              voyage.guests.removeAll { $0 == guest }
            } else {
              voyage.guests.append(guest)
            }
          }
        case 10: if let guest { context.delete(guest) }
        default: if let voyage { context.delete(voyage) }
        }
      }
      try context.save()
    }
  }

  /// What there is, by the first letter of names.
  private struct State: Equatable {
    private var texts: [String: [String]] = [:]

    subscript(letter: String) -> [String] { texts[letter] ?? [] }

    init(of context: ModelContext) throws {
      for voyage in try context.fetch(FetchDescriptor<Voyage>(sortBy: [SortDescriptor(\.name)])) {
        texts[String(voyage.name.prefix(1)), default: []].append(
          "\(voyage.name) \(voyage.budget) \(voyage.note ?? "-") \(voyage.cabins.map(\.number)) "
            + "\(voyage.guests.map(\.name))"
        )
      }
      for guest in try context.fetch(FetchDescriptor<Guest>(sortBy: [SortDescriptor(\.name)])) {
        texts[String(guest.name.prefix(1)), default: []].append(
          "\(guest.name) \(guest.voyages.map(\.name))"
        )
      }
      texts["cabins"] = try context.fetch(
        FetchDescriptor<Cabin>(sortBy: [SortDescriptor(\.number)])
      )
      .filter { $0.voyage == nil }.map { "\($0.number)" }
    }
  }
}
