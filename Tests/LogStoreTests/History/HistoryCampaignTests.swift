import Foundation
import LogStore
import SwiftData
import Testing

/// What the history should tell, noted as the saves are made.
private struct Expected: Equatable, CustomStringConvertible {
  var author: String?
  var told: String
  var description: String { "\(author ?? "-"): \(told)" }
}

@Suite struct `The history of random saves` {
  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `tells what was done, whatever comes between`(seed: UInt64) throws {
    var campaign = try HistoryCampaign(seed: seed)
    for _ in 0..<120 { try campaign.step() }
    try campaign.check()
  }
}

/// Random saves of two contexts with authors, and what came of them; its seed is in the name of the test.
private struct HistoryCampaign {
  private var random: SplitMix
  private let store: HistoryStore
  private var contexts: [ModelContext] = []
  private var expected: [Expected] = []
  /// How many of them were deleted from the history, the oldest first.
  private var deletedCount = 0
  private var bookmark: (token: DefaultHistoryToken, count: Int)?

  init(seed: UInt64) throws {
    random = SplitMix(state: seed)
    // Everything is kept: what a compaction may take is told by a test of its own.
    store = try HistoryStore(.init(.onDemand, historyAge: nil, historyByteCount: nil))
    open()
  }

  private mutating func open() { contexts = ["a", "b", nil].map(store.context) }

  mutating func step() throws {
    switch random.next(upTo: 24) {
    case 0:
      contexts = []
      try store.reopen()
      open()
    case 1:
      contexts = []
      try store.compact()
      open()
    case 2: try deleteHistory()
    case 3: try check()
    default: try save()
    }
  }

  private mutating func save() throws {
    let context = contexts[random.next(upTo: contexts.count)]
    var changes: [PersistentIdentifier: Set<String>] = [:]
    var inserted: [any PersistentModel] = []
    let voyages = try context.fetch(FetchDescriptor<Voyage>(sortBy: [SortDescriptor(\.name)]))
    var deleted: Set<PersistentIdentifier> = []
    for _ in 0...random.next(upTo: 3) {
      let voyage = voyages.isEmpty ? nil : voyages[random.next(upTo: voyages.count)]
      switch random.next(upTo: 6) {
      case 0, 1:
        let made = Voyage("v\(random.next(upTo: 1_000_000))")
        context.insert(made)
        inserted.append(made)
      case 2:
        guard let voyage, !deleted.contains(voyage.persistentModelID) else { continue }
        voyage.note = "n\(random.next(upTo: 1000))"
        changes[voyage.persistentModelID, default: []].insert("note")
      case 3:
        guard let voyage, !deleted.contains(voyage.persistentModelID) else { continue }
        voyage.budget += 1
        changes[voyage.persistentModelID, default: []].insert("budget")
      case 4:
        guard let voyage, !deleted.contains(voyage.persistentModelID) else { continue }
        let cabin = Cabin(random.next(upTo: 100))
        context.insert(cabin)
        cabin.voyage = voyage
        inserted.append(cabin)
        changes[voyage.persistentModelID, default: []].insert("cabins")
      default:
        guard let voyage, !deleted.contains(voyage.persistentModelID),
          changes[voyage.persistentModelID] == nil
        else { continue }
        for cabin in voyage.cabins { deleted.insert(cabin.persistentModelID) }
        deleted.insert(voyage.persistentModelID)
        context.delete(voyage)
      }
    }
    try context.save()
    let words =
      inserted.map { "+\($0.persistentModelID.entityName)" }
      + deleted.map { "-\($0.entityName)" }
      + changes.map { "\($0.entityName)(\($1.sorted().joined(separator: " ")))" }
    if words.isEmpty { return }
    expected.append(
      Expected(author: context.author, told: words.sorted().joined(separator: ", "))
    )
  }

  private mutating func deleteHistory() throws {
    let all = try store.transactions()
    guard let last = all.last else { return }
    let count = random.next(upTo: all.count)
    let token = all[count].token
    let earlier = #Predicate<Transaction> { $0.token < token }
    try store.context().deleteHistory(HistoryDescriptor(predicate: earlier))
    deletedCount += count
    bookmark = (last.token, deletedCount + all.count - count)
  }

  func check() throws {
    let left = Array(expected.dropFirst(deletedCount))
    let told = try store.transactions().map { Expected(author: $0.author, told: $0.told) }
    #expect(told == left)
    var backwards = HistoryDescriptor<Transaction>(
      sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)]
    )
    backwards.fetchLimit = 7
    let newest = try store.context().fetchHistory(backwards)
    #expect(newest.map(\.told) == left.reversed().prefix(7).map(\.told))
    let own = try store.transactions(#Predicate { $0.author == "a" })
    #expect(own.map(\.told) == left.filter { $0.author == "a" }.map(\.told))
    guard let bookmark else { return }
    #expect(try store.told(since: bookmark.token) == expected.dropFirst(bookmark.count).map(\.told))
  }
}

private struct SplitMix {
  var state: UInt64

  mutating func next(upTo bound: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
    return Int((word ^ word >> 31) % UInt64(bound))
  }
}
