import LogEngineTestSupport
import LogFormat
import RowFormat
import Testing

@testable import LogEngine

/// An index that expectations can name.
private final class Pages {
  private let pages = IndexPages()

  func store(_ location: RecordLocation, for key: UInt64, sequence: UInt64) {
    pages.store(location, for: key, sequence: sequence)
  }

  func next(from key: UInt64 = 0, to end: UInt64? = nil, asOf sequence: UInt64) -> UInt64? {
    pages.next(from: key, to: end ?? pages.keyLimit, asOf: sequence)?.key
  }

  func nextPage(from page: UInt64, to end: UInt64 = .max, asOf sequence: UInt64) -> UInt64? {
    pages.nextPage(from: page, to: end, asOf: sequence)
  }

  func isPassedOver(page: UInt64, asOf sequence: UInt64) -> Bool {
    pages.isPassedOver(page: page, asOf: sequence)
  }
}

@Suite struct `Pages of the index whose rows have ended` {
  private static let keys = 1..<UInt64(3 * IndexPages.slotsPerPage)

  private func location(_ kind: RecordKind, _ key: UInt64) -> RecordLocation {
    RecordLocation(segment: SegmentID(rawValue: 1), offset: Int(key) * 64, kind: kind, depth: 0)
  }

  /// Stores inserts of commit 1, and deletes of commit 2.
  private func fill(_ pages: Pages) {
    for key in Self.keys { pages.store(location(.insert, key), for: key, sequence: 1) }
    for key in Self.keys { pages.store(location(.delete, key), for: key, sequence: 2) }
  }

  @Test func `are passed over once a scan has found no row in them`() {
    let pages = Pages()
    fill(pages)
    #expect(!pages.isPassedOver(page: 0, asOf: 2))
    #expect(pages.next(asOf: 2) == nil)
    for page in 0..<3 as Range<UInt64> {
      #expect(pages.isPassedOver(page: page, asOf: 2))
      #expect(pages.isPassedOver(page: page, asOf: 9))
    }
    #expect(pages.nextPage(from: 0, asOf: 2) == nil)
  }

  @Test func `are not passed over by readers of earlier commits`() {
    let pages = Pages()
    fill(pages)
    #expect(pages.next(asOf: 1) == 1)
    #expect(!pages.isPassedOver(page: 0, asOf: 2))
    _ = pages.next(asOf: 2)
    #expect(pages.next(asOf: 1) == 1)
    #expect(pages.nextPage(from: 0, asOf: 1) == 0)
  }

  @Test func `are looked at again after a row has been stored in them`() {
    let pages = Pages()
    fill(pages)
    _ = pages.next(asOf: 2)
    pages.store(location(.insert, 700), for: 700, sequence: 3)
    #expect(pages.next(asOf: 3) == 700)
    #expect(pages.next(asOf: 2) == 512)
    #expect(pages.nextPage(from: 0, asOf: 3) == 1)
    #expect(pages.nextPage(from: 0, to: 1, asOf: 3) == nil)
    pages.store(location(.delete, 700), for: 700, sequence: 4)
    #expect(pages.next(asOf: 4) == nil)
    #expect(pages.isPassedOver(page: 1, asOf: 4))
  }

  @Test func `stay passed over while records move, unless what moves is a row`() {
    let pages = Pages()
    fill(pages)
    _ = pages.next(asOf: 2)
    pages.store(RecordLocation(endNotedIn: PackID(rawValue: 7)), for: 100, sequence: 0)
    #expect(pages.isPassedOver(page: 0, asOf: 2))
    pages.store(location(.insert, 100), for: 100, sequence: 0)
    #expect(pages.next(asOf: 2) == 100)
    pages.store(location(.delete, 100), for: 100, sequence: 0)
    // Nothing is concluded from the commit of such a page any more.
    #expect(pages.next(asOf: 2) == nil)
    #expect(!pages.isPassedOver(page: 0, asOf: 2))
  }

  @Test func `are not passed over because a part of them was scanned`() {
    let pages = Pages()
    fill(pages)
    #expect(pages.next(from: 5, asOf: 2) == nil)
    #expect(!pages.isPassedOver(page: 0, asOf: 2))
    #expect(pages.next(from: 512, to: 600, asOf: 2) == nil)
    #expect(pages.isPassedOver(page: 1, asOf: 2))
    let other = Pages()
    fill(other)
    #expect(other.next(from: 0, to: 500, asOf: 2) == nil)
    #expect(!other.isPassedOver(page: 0, asOf: 2))
  }
}

@Suite struct `A scan behind rows that have ended` {
  /// The number of rows, by a scan of columns.
  private func rowCount(by view: ReadView) throws -> Int {
    var count = 0
    try view.scanColumns(1, []) { batch in
      batch.rows.forEach { _ in count += 1 }
      return .proceed
    }
    return count
  }

  @Test func `passes over pages in which a scan of columns has found none`() throws {
    let store = try MemoryStore()
    let total = 3 * IndexPages.slotsPerPage
    try store.commit((0..<total).map { .insert(Int64($0), "queued") })
    let before = store.engine.makeReadView()
    try store.commit(store.rows.keys.sorted().dropLast(5).map { .delete($0) })
    let view = store.engine.makeReadView()
    func isPassedOver(_ page: UInt64) -> Bool? {
      view.state.tables.with(1) { $0.pages.isPassedOver(page: page, asOf: view.sequence.rawValue) }
    }
    #expect(isPassedOver(1) == false)
    #expect(try rowCount(by: view) == 5)
    #expect(isPassedOver(1) == true)
    #expect(try rowCount(by: view) == 5)
    #expect(try rowCount(by: before) == total)
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `finds what each view has, in a queue that is compacted and opened again`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let store = try MemoryStore()
    var views: [ReadView] = []
    for round in 0..<120 {
      try store.commit((0..<40).map { .insert(Int64(round * 40 + $0), "queued") })
      let oldest = store.rows.keys.sorted()
      // Most are taken from the front, now and then all of them.
      let count = random.next() % 8 == 0 ? oldest.count : min(oldest.count, 30)
      for chunk in stride(from: 0, to: count, by: 10) {
        try store.commit(oldest[chunk..<min(chunk + 10, count)].map { .delete($0) })
      }
      if random.next() % 5 == 0 { views.append(store.engine.makeReadView()) }
      if random.next() % 9 == 0, !views.isEmpty { views.removeFirst() }
      if random.next() % 10 == 0 { try store.engine.compact() }
      for view in views {
        let expected = store.history[Int(view.sequence.rawValue)]
        #expect(try rowCount(by: view) == expected.count, "seed \(seed), round \(round)")
        #expect(try MemoryStore.rows(of: view) == expected, "seed \(seed), round \(round)")
      }
      let now = store.engine.makeReadView()
      #expect(try rowCount(by: now) == store.rows.count, "seed \(seed), round \(round)")
      #expect(try MemoryStore.rows(of: store.engine) == store.rows, "seed \(seed), round \(round)")
      if random.next() % 20 == 0 {
        views = []
        try store.close()
        try store.open()
      }
    }
    try store.engine.checkInvariants()
  }
}
