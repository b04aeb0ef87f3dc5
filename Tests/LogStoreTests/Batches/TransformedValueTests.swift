import LogStore
import SwiftData
import Testing

private enum Vault {
  /// Keeps the complement of bytes, which is as long as they are.
  final class Cipher: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? { (value as? Data).map(complement) }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
      (value as? Data).map(complement)
    }

    private func complement(_ data: Data) -> Data { Data(data.map { ~$0 }) }
  }

  @Model final class Safe {
    @Attribute(.unique) var number: Int
    @Attribute(.transformable(by: Cipher.self)) var secret: Data
    @Attribute(.transformable(by: Cipher.self), .externalStorage) var deed: Data?
    init(_ number: Int, _ secret: Data) {
      self.number = number
      self.secret = secret
    }
  }
}

private typealias Safe = Vault.Safe

/// The types of property and column are the same with a transformer and without.
@Suite struct `Data that passes through a transformer` {
  private let context: ModelContext
  private let secret = Data([1, 2, 3])
  private let deed = Data(repeating: 7, count: 300)

  init() throws {
    let configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    context = ModelContext(try ModelContainer(for: Safe.self, configurations: configuration))
    let safe = Safe(1, secret)
    safe.deed = deed
    context.insert(safe)
    context.insert(Safe(2, Data([9])))
    try context.save()
  }

  private func safe(_ number: Int) throws -> Safe {
    let safes = FetchDescriptor<Safe>(predicate: #Predicate { $0.number == number })
    return try #require(try ModelContext(context.container).fetch(safes).first)
  }

  @Test func `is what batches insert, upsert and set`() throws {
    let rows: [(Int, Data, Data?)] = [3, 2].map { ($0, secret, deed) }
    try context.batchInsert(Safe.self, \.number, \.secret, \.deed, rows: rows[..<1])
    try context.batchUpsert(Safe.self, \.number, \.secret, \.deed, rows: rows)
    for number in [2, 3] {
      let safe = try safe(number)
      #expect(safe.secret == secret && safe.deed == deed)
    }
    let other = Data([4, 5])
    try context.batchUpdate(Safe.self, .set(\.secret, to: other), .set(\.deed, to: nil))
    #expect(try safe(1).secret == other && safe(1).deed == nil)
  }

  @Test func `is no plain value that a batch could change where it is`() throws {
    #expect(throws: SwiftDataError.unsupportedKeyPath) {
      try context.batchUpdate(Safe.self, .change(\.secret) { $0 + [0] })
    }
    #expect(try safe(1).secret == secret)
  }

  @Test func `is fetched without its model as with it`() throws {
    let rows = try context.fetch(
      FetchDescriptor<Safe>(sortBy: [SortDescriptor(\.number)]),
      \.secret,
      \.deed
    )
    #expect(rows.map(\.0) == [secret, Data([9])])
    #expect(rows.map(\.1) == [deed, nil])
  }

  @Test func `is what predicates compare, and no key of groups`() throws {
    let (secret, deed) = (secret, deed)
    let having = #Predicate<Safe> { $0.secret == secret && $0.deed == deed }
    #expect(try context.fetch(FetchDescriptor(predicate: having)).map(\.number) == [1])
    let without = #Predicate<Safe> { $0.deed == nil }
    #expect(try context.fetchCount(FetchDescriptor(predicate: without)) == 1)
    #expect(throws: SwiftDataError.unsupportedKeyPath) {
      try context.aggregate(FetchDescriptor<Safe>(), by: .value(\.secret), .count)
    }
  }
}
