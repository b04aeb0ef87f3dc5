import LogEngineTestSupport
import LogStore
import SwiftData
import Testing

enum Guild {
  @Model class Member {
    #Unique<Member>([\.number], [\.street, \.house])
    var number: Int?
    var street: String?
    var house: Int?
    var note: String

    init(_ values: Values) { (number, street, house, note) = values }
  }

  @Model final class Keeper: Member {
    @Attribute(.unique) var key: Int?
    override init(_ values: Values) { super.init(values) }
  }

  typealias Values = (Int?, String?, Int?, String)
}

/// An upsert of rows that several constraints may tell apart is what one save of as many new objects is.
@Suite struct `An upsert by several keys` {
  private typealias Values = Guild.Values
  private typealias Member = Guild.Member

  private func open() throws -> ModelContainer {
    try ModelContainer(
      for: Guild.Member.self,
      Guild.Keeper.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
  }

  private func describe(_ container: ModelContainer) throws -> [String] {
    try ModelContext(container).fetch(FetchDescriptor<Member>()).map {
      "\($0.number ?? -1) \($0.street ?? "-") \($0.house ?? -1) \($0.note)"
    }
    .sorted()
  }

  /// - Returns: What is stored after the rows, or `nil` if they were refused.
  private func store(_ stored: [Values], then rows: [Values], inBatch: Bool) throws -> [String]? {
    let container = try open()
    let context = ModelContext(container)
    for values in stored {
      context.insert(Member(values))
      do { try context.save() } catch { context.rollback() }
    }
    let before = try context.fetchCount(FetchDescriptor<Member>())
    do {
      if inBatch {
        let result = try context.batchUpsert(
          Member.self,
          \.number,
          \.street,
          \.house,
          \.note,
          rows: rows
        )
        let after = try context.fetchCount(FetchDescriptor<Member>())
        #expect(result.insertedCount == after - before)
      } else {
        for values in rows { context.insert(Member(values)) }
        try context.save()
      }
    } catch SwiftDataError.modelValidationFailure {
      #expect(try ModelContext(container).fetchCount(FetchDescriptor<Member>()) == before)
      return nil
    }
    return try describe(container)
  }

  private func check(_ stored: [Values], then rows: [Values], _ expected: [String]?) throws {
    #expect(try store(stored, then: rows, inBatch: true) == expected)
    #expect(try store(stored, then: rows, inBatch: false) == expected)
  }

  @Test func `keeps the last of rows that are equal by all of them`() throws {
    let rows: [Values] = [
      (1, "Elm", 1, "a"), (2, "Oak", 2, "b"), (1, "Elm", 1, "c"), (1, "Elm", 1, "d"),
    ]
    try check([], then: rows, ["1 Elm 1 d", "2 Oak 2 b"])
  }

  @Test func `takes rows that meet through others for one model`() throws {
    let rows: [Values] = [(1, "Elm", 1, "a"), (2, "Elm", 1, "b"), (1, "Oak", 2, "c")]
    try check([], then: rows, ["1 Oak 2 c"])
    // A stored model that an earlier row meets is updated by the last one.
    try check([(1, "Elm", 1, "a")], then: [(1, "Oak", 2, "b"), (2, "Oak", 2, "c")], ["2 Oak 2 c"])
    try check([(1, nil, 1, "a")], then: [(nil, "Oak", 2, "b"), (1, "Oak", 2, "c")], ["1 Oak 2 c"])
    // Each row meets a stored model, and they meet each other: two models would become one.
    let two: [Values] = [(1, "Elm", 1, "a"), (2, "Oak", 2, "b")]
    try check(two, then: [(1, "Ash", 3, "c"), (2, "Ash", 3, "d")], nil)
  }

  @Test(arguments: 0..<30)
  func `comes to what a save of objects does`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    func makeRows(_ name: String, _ count: ClosedRange<Int>) -> [Values] {
      (0..<Int.random(in: count, using: &random)).map { index in
        (
          [nil, 1, 2, 3].randomElement(using: &random) ?? nil,
          [nil, "Elm", "Oak"].randomElement(using: &random) ?? nil,
          [nil, 1, 2].randomElement(using: &random) ?? nil, "\(name)\(index)"
        )
      }
    }
    for _ in 0..<25 {
      let stored = makeRows("s", 0...3)
      let rows = makeRows("r", 1...5)
      let batch = try store(stored, then: rows, inBatch: true)
      let save = try store(stored, then: rows, inBatch: false)
      #expect(batch == save, "seed \(seed): \(rows) after \(stored)")
    }
  }

  /// Only one constraint is among the properties of the batch: the store tells which rows clash by the other.
  @Test func `follows constraints that it does not name`() throws {
    let container = try open()
    let context = ModelContext(container)
    context.insert(Guild.Keeper((1, "Elm", 1, "a")))
    try context.save()
    let result = try context.batchUpsert(
      Guild.Keeper.self,
      \.key,
      \.note,
      rows: [(7, "b"), (8, "c"), (7, "d")] as [(Int?, String)]
    )
    #expect(result.insertedCount == 2)
    #expect(try describe(container) == ["-1 - -1 c", "-1 - -1 d", "1 Elm 1 a"])
    let error = #expect(throws: SwiftDataError.self) {
      try context.batchUpsert(
        Guild.Keeper.self,
        \.number,
        \.note,
        \.key,
        rows: [(1, "e", 7), (2, "f", 7)] as [(Int?, String, Int?)]
      )
    }
    #expect((error?.underlyingError as? UniquenessConflict)?.reason == .severalModels)
  }
}
