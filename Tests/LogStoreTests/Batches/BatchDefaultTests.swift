import LogStore
import SwiftData
import Synchronization
import Testing

private enum Registry {
  private static let last = Mutex(0)

  /// Another number each time.
  static func next() -> Int {
    last.withLock {
      $0 += 1
      return $0
    }
  }

  @Model class Entry {
    var number = Registry.next()
    var kind = "plain"
    var size: Int
    init(_ size: Int) { self.size = size }
  }

  @Model final class Page: Entry {
    #Unique<Page>([\.code])
    var code: Int
    var sheet = Registry.next()
    init(_ size: Int, _ code: Int) {
      self.code = code
      super.init(size)
    }
  }
}

private typealias Page = Registry.Page

@Suite struct `Defaults of properties that a batch does not name` {
  private let context: ModelContext

  init() throws {
    context = ModelContext(
      try ModelContainer(
        for: Registry.Entry.self,
        Page.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
      )
    )
  }

  private func pages() throws -> [Page] {
    try ModelContext(context.container).fetch(
      FetchDescriptor<Page>(sortBy: [SortDescriptor(\.code)])
    )
  }

  @Test(arguments: [false, true])
  func `are made for each batch, once for all of its rows`(isUpsert: Bool) throws {
    var former = Registry.next()
    for batch in 0..<3 {
      let rows = (0..<4).map { ($0, batch * 4 + $0) }
      if isUpsert {
        try context.batchUpsert(Page.self, \.size, \.code, rows: rows, commitEvery: 2)
      } else {
        try context.batchInsert(Page.self, \.size, \.code, rows: rows, commitEvery: 2)
      }
      let made = try pages().suffix(4)
      let (numbers, sheets) = (Set(made.map(\.number)), Set(made.map(\.sheet)))
      #expect(numbers.count == 1 && sheets.count == 1)
      #expect(numbers.allSatisfy { $0 > former } && sheets.allSatisfy { $0 > former })
      #expect(made.allSatisfy { $0.kind == "plain" })
      former = Registry.next()
    }
  }

  @Test func `leave those alone that it names`() throws {
    try context.batchInsert(Page.self, \.size, \.code, \.number, \.kind, rows: [(1, 2, -3, "rare")])
    let page = try #require(try pages().first)
    #expect(page.number == -3 && page.kind == "rare" && page.sheet > 0)
  }
}
