import Foundation
import LogEngineTestSupport
import SchedulePoints
import SwiftData
import Synchronization
import Testing

@testable import ModelRuntime

@Model private final class Room {
  var name: String
  @Relationship(inverse: \Token.room) var tokens: [Token] = []
  init(_ name: String) { self.name = name }
}

/// Its group and its room agree; the amounts of all have one sum.
@Model private final class Token {
  var uid: Int
  var group: Int
  var amount = 100
  var note = ""
  var room: Room?
  var title: String { "r\(group)" }
  init(_ uid: Int, in room: Room, _ group: Int) {
    self.uid = uid
    self.group = group
    self.room = room
  }
}

@Suite struct `Results beside contexts that keep saving` {
  /// What an observer cannot keep by sort keys alone, and a limit, which makes it fetch more now and then.
  enum Kind: CaseIterable { case sections, relatedPredicate, relatedSort, limit, offset }

  @Test(arguments: Kind.allCases)
  func `are of one state, whenever others save while they are brought up to date`(kind: Kind)
    throws
  {
    let bank = try TokenBank()
    let look = try bank.makeLook(kind, in: ModelContext(bank.container))
    for _ in 0..<8 {
      try bank.exchange()
      try bank.exchanging(at: [.duringMerge, .duringFetch], everyTime: true) {
        look.check("\(kind)")
      }
    }
    look.check("\(kind), at the end")
  }

  @Test func `are of one state where a fetch has met what one of the saves has written`() throws {
    let bank = try TokenBank()
    let context = ModelContext(bank.container)
    let held = try context.fetch(FetchDescriptor<Token>(sortBy: [SortDescriptor(\.uid)]))
    let observer = try ResultsObserver<Token, Never>(
      sortBy: [SortDescriptor(\.uid)],
      modelContext: context
    )
    let before: [Int] = observer.results.map(\.amount)
    #expect(before == held.map { _ in 100 })
    let seen = Mutex<[Int]>([])
    // The closure runs on this thread.
    nonisolated(unsafe) let (reader, results) = (context, observer)
    try atFirst(.afterCommit) {
      let first = try reader.fetch(FetchDescriptor<Token>(predicate: #Predicate { $0.uid == 0 }))
      #expect(first.map(\.amount) == [101])
      let found: [Int] = results.results.map(\.amount)
      seen.withLock { $0 = found }
    } during: {
      try bank.exchange(0, 1)
    }
    #expect(seen.withLock { $0 } == [101, 99] + held.dropFirst(2).map { _ in 100 })
  }

  @Test(arguments: 0..<12 / Thoroughness.stride)
  func `are of one state after any sequence of saves`(seed: Int) throws {
    let bank = try TokenBank(seed: UInt64(seed))
    let context = ModelContext(bank.container)
    let isDirty = seed % 2 == 1
    let tokens = try context.fetch(FetchDescriptor<Token>())
    // Beside unsaved models, a fetch tests relations by objects.
    let kinds: [Kind] = isDirty ? [.sections, .limit, .offset] : Kind.allCases
    let looks = try kinds.map { try bank.makeLook($0, in: context) }
    for step in 0..<60 {
      let place = "seed \(seed), step \(step)"
      if isDirty { tokens[bank.next(tokens.count)].note = "\(step)" }
      if isDirty, bank.next(8) == 0 { try context.save() }
      if bank.next(4) == 0 { context.rollback() }
      // A model that was saved or rolled back reads its row when a value is needed that it does not know, and that may be later
      // than the results: its relationships need it.
      for token in tokens { #expect(token.room != nil) }
      if bank.next(2) == 0 { try bank.exchange() }
      // The closures run on this thread.
      nonisolated(unsafe) let (bank, look) = (bank, looks[bank.next(looks.count)])
      if bank.next(3) > 0 {
        try bank.exchanging(at: [.duringMerge, .duringFetch, .beforeIndexRead]) {
          look.check(place)
        }
        continue
      }
      // A look while a save is visible, and has told nobody.
      try atFirst(.afterCommit) {
        try bank.exchanging(at: [.duringMerge, .duringFetch]) { look.check(place) }
      } during: {
        try bank.exchange()
      }
    }
    for look in looks { look.check("seed \(seed), at the end") }
  }
}

/// Tokens that other contexts move between rooms, two at a time, and what an observer may show of them.
private final class TokenBank {
  /// A test of an observer's results.
  struct Look { let check: (_ place: String) -> Void }

  let container: ModelContainer
  private let other: ModelContext
  private let tokens: [Token]
  private var random: SeededNumbers
  private static let size = 20

  init(seed: UInt64 = 1) throws {
    container = try ModelContainer(
      for: Token.self,
      Room.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    other = ModelContext(container)
    random = SeededNumbers(seed: seed)
    let rooms = (0..<4).map { Room("r\($0)") }
    tokens = (0..<TokenBank.size).map { Token($0, in: rooms[$0 % 4], $0 % 4) }
    for token in tokens { other.insert(token) }
    try other.save()
  }

  func next(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  /// Saves that two tokens change places, and that one has a little more, and the other less.
  func exchange() throws {
    let first = next(TokenBank.size)
    try exchange(first, (first + 1 + next(TokenBank.size - 1)) % TokenBank.size)
  }

  func exchange(_ first: Int, _ second: Int) throws {
    let (first, second) = (tokens[first], tokens[second])
    (first.group, second.group) = (second.group, first.group)
    (first.room, second.room) = (second.room, first.room)
    first.amount += 1
    second.amount -= 1
    try other.save()
  }

  /// Runs a block, and has others save when this thread comes to some points.
  func exchanging(
    at points: [SchedulePoint],
    everyTime: Bool = false,
    _ body: () -> Void
  ) throws {
    let thread = UInt(bitPattern: Int(bitPattern: pthread_self()))
    let isSaving = Mutex(false)
    // The scheduler does nothing on other threads.
    nonisolated(unsafe) let bank = self
    let hook = ScheduleHook { reached in
      guard thread == UInt(bitPattern: Int(bitPattern: pthread_self())), points.contains(reached),
        !isSaving.withLock({ $0 }), everyTime || bank.next(2) == 0
      else { return }
      isSaving.withLock { $0 = true }
      defer { isSaving.withLock { $0 = false } }
      do { try bank.exchange() } catch { Issue.record(error) }
    }
    defer { hook.remove() }
    body()
  }

  func makeLook(
    _ kind: `Results beside contexts that keep saving`.Kind,
    in context: ModelContext
  ) throws -> Look {
    var fetch = FetchDescriptor<Token>(sortBy: [SortDescriptor(\.group), SortDescriptor(\.uid)])
    switch kind {
    case .sections: return try makeLookAtSections(fetch, context)
    case .relatedPredicate: fetch.predicate = #Predicate { $0.room?.name == "r1" }
    case .relatedSort: fetch.sortBy = [SortDescriptor(\.room?.name), SortDescriptor(\.uid)]
    case .limit: fetch.fetchLimit = 7
    case .offset:
      fetch.fetchOffset = 5
      fetch.fetchLimit = 5
    }
    let observer = try ResultsObserver<Token, Never>(fetchDescriptor: fetch, modelContext: context)
    let cursor = observer.makeCursor()
    var known: [Token] = []
    return Look { place in
      let results = Array(observer.results)
      let expected: [Int] =
        switch kind {
        case .sections, .relatedSort: (0..<TokenBank.size).map { $0 / 5 }
        case .relatedPredicate: Array(repeating: 1, count: 5)
        case .limit: [0, 0, 0, 0, 0, 1, 1]
        case .offset: Array(repeating: 1, count: 5)
        }
      TokenBank.check(results, expected, place)
      if kind == .relatedSort { #expect(results.sum == 100 * TokenBank.size, "\(place)") }
      if let change = cursor.advance() {
        known = known.applying(change.difference) ?? []
        #expect(known.elementsEqual(change.results, by: ===), "\(place)")
        TokenBank.check(known, expected, place)
      }
    }
  }

  private func makeLookAtSections(
    _ fetch: FetchDescriptor<Token>,
    _ context: ModelContext
  ) throws -> Look {
    let observer = try ResultsObserver(
      fetchDescriptor: fetch,
      sectionBy: \Token.title,
      modelContext: context
    )
    return Look { place in
      let results = Array(observer.results)
      TokenBank.check(results, (0..<TokenBank.size).map { $0 / 5 }, place)
      #expect(results.sum == 100 * TokenBank.size, "\(place)")
      guard let sections = observer.sections else { return }
      #expect(sections.sectionTitles == ["r0", "r1", "r2", "r3"], "\(place)")
      for section in sections {
        #expect(section.count == 5 && section.allSatisfy { $0.title == section.title }, "\(place)")
      }
    }
  }

  private static func check(_ results: [Token], _ groups: [Int], _ place: String) {
    #expect(results.map(\.group) == groups, "\(place)")
    #expect(results.allSatisfy { $0.room?.name == $0.title }, "\(place)")
    let isSorted = zip(results, results.dropFirst()).allSatisfy {
      ($0.group, $0.uid) < ($1.group, $1.uid)
    }
    #expect(isSorted, "\(place)")
  }
}

extension [Token] {
  fileprivate var sum: Int { reduce(0) { $0 + $1.amount } }
}
