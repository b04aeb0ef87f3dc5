import Foundation
import SwiftData
import Testing

@Suite struct `Results with a limit or an offset` {
  let context: ModelContext
  let volumes: [Volume]

  init() throws {
    context = ModelContext(try makeShelves())
    volumes = (0..<100).map { Volume("\($0)", pages: $0) }
    for volume in volumes { context.insert(volume) }
    try context.save()
  }

  private func observer(
    limit: Int?,
    offset: Int? = nil
  ) throws -> ResultsObserver<Volume, Never> {
    var descriptor = FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.pages)])
    descriptor.fetchLimit = limit
    descriptor.fetchOffset = offset
    return try ResultsObserver(fetchDescriptor: descriptor, modelContext: context)
  }

  /// The number of questions that a change of the results takes.
  private func fetchCount(
    _ observer: ResultsObserver<Volume, Never>,
    _ change: () -> Void
  ) -> Int {
    context.explain {
      change()
      return observer.results.count
    }.plans.count
  }

  @Test func `fetch again only when the models behind them are used up`() throws {
    let observer = try observer(limit: 10)
    var fetches = 0
    for number in 0..<60 {
      fetches += fetchCount(observer) { context.delete(volumes[number]) }
      #expect(observer.results.map(\.pages) == Array(number + 1..<number + 11))
    }
    // 13 are kept behind 10.
    #expect(fetches == 60 / 14)
  }

  @Test func `follow models that come, move and are changed behind them without a fetch`() throws {
    let observer = try observer(limit: 3, offset: 2)
    let fetches = fetchCount(observer) {
      context.insert(Volume("first", pages: -1))
      volumes[50].pages = 2
      volumes[70].pages = 71
      volumes[3].pages = 1000
    }
    #expect(fetches == 0)
    #expect(observer.results.map(\.title) == ["1", "2", "50"])
    #expect(observer.indexPath(for: volumes[2]) == IndexPath(indexes: [0, 1]))
    #expect(observer.indexPath(for: volumes[4]) == nil)
    #expect(observer.indexPath(for: volumes[0]) == nil)
  }

  @Test func `grow and shrink far beyond what is shown`() throws {
    let observer = try observer(limit: 2)
    var added: [Volume] = []
    for number in 0..<100 {
      added.append(Volume("new", pages: -number))
      context.insert(added[number])
      #expect(observer.results.first?.pages == -number)
    }
    for number in (0..<100).reversed() {
      context.delete(added[number])
      #expect(observer.results.first?.pages == (number == 0 ? 0 : -number + 1))
    }
    #expect(observer.results.map(\.pages) == [0, 1])
  }

  @Test func `show all but some without a limit`() throws {
    let observer = try observer(limit: nil, offset: 95)
    let fetches = fetchCount(observer) {
      context.delete(volumes[0])
      volumes[99].pages = -1
    }
    #expect(fetches == 0)
    #expect(observer.results.map(\.pages) == [95, 96, 97, 98])
  }

  @Test(arguments: [5000, Int.max])
  func `fetch again if very many are skipped`(offset: Int) throws {
    let observer = try observer(limit: 2, offset: offset)
    #expect(fetchCount(observer) { context.delete(volumes[0]) } == 1)
    #expect(observer.results.isEmpty)
  }

  @Test func `are followed by cursors`() throws {
    let observer = try observer(limit: 2)
    let cursor = observer.makeCursor()
    _ = cursor.advance()
    context.delete(volumes[0])
    let change = try #require(cursor.advance())
    #expect(change.difference.removals.map(\.element.pages) == [0])
    #expect(change.difference.insertions.map(\.element.pages) == [2])
    volumes[3].title = "not shown"
    #expect(cursor.advance().map(\.updated.count) == nil)
  }
}

extension CollectionDifference.Change {
  fileprivate var element: ChangeElement {
    switch self {
    case .insert(_, let element, _), .remove(_, let element, _): element
    }
  }
}
