import LogStore
import SwiftData
import Testing

@Model private final class HoistedFlag {
  @Attribute(.unique) var code: String
  var meaning: String?
  var flags = 1

  init(_ code: String) { self.code = code }
}

@Suite struct `A batch of one property` {
  private let context: ModelContext

  init() throws {
    let container = try ModelContainer(
      for: HoistedFlag.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
  }

  private func codes() throws -> [String] {
    try context.fetch(FetchDescriptor<HoistedFlag>(sortBy: [SortDescriptor(\.code)])).map(\.code)
  }

  @Test func `is inserted from an array literal, a variable or a sequence of values`() throws {
    #expect(try context.batchInsert(HoistedFlag.self, \.code, rows: ["a", "b"]).insertedCount == 2)
    let rows = ["c", "d", "e"]
    try context.batchInsert(HoistedFlag.self, \.code, rows: rows, commitEvery: 2)
    try context.batchInsert(HoistedFlag.self, \.code, rows: ["f"].lazy.map { $0 })
    try context.batchInsert(HoistedFlag.self, \.code, rows: [("g")])
    #expect(try codes() == ["a", "b", "c", "d", "e", "f", "g"])
    #expect(try context.fetch(FetchDescriptor<HoistedFlag>()).allSatisfy { $0.flags == 1 })
  }

  @Test func `takes rows of two properties as before`() throws {
    try context.batchInsert(
      HoistedFlag.self,
      \.code,
      \.meaning,
      rows: [("a", "diver down"), ("b", nil)]
    )
    let rows = [("a", 3), ("c", 4)]
    try context.batchUpsert(HoistedFlag.self, \.code, \.flags, rows: rows)
    #expect(try codes() == ["a", "b", "c"])
  }

  @Test func `updates the models that have its values already`() throws {
    try context.batchInsert(HoistedFlag.self, \.code, rows: ["a"])
    let result = try context.batchUpsert(HoistedFlag.self, \.code, rows: ["a", "b", "b"])
    #expect((result.insertedCount, result.updatedCount) == (1, 1))
    #expect(try codes() == ["a", "b"])
  }

  @Test func `is refused where its values are taken, or its property is not stored`() throws {
    try context.batchInsert(HoistedFlag.self, \.code, rows: ["a"])
    #expect(throws: SwiftDataError.modelValidationFailure) {
      try context.batchInsert(HoistedFlag.self, \.code, rows: ["a"])
    }
    #expect(throws: SwiftDataError.modelValidationFailure) {
      try context.batchInsert(HoistedFlag.self, \.flags, rows: [1])
    }
    #expect(throws: SwiftDataError.modelValidationFailure) {
      try context.batchUpsert(HoistedFlag.self, \.flags, rows: [1])
    }
  }
}
