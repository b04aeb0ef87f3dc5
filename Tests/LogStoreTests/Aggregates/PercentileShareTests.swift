import LogStore
import SwiftData
import Testing

@Model private final class DepthMark {
  var depth: Double

  init(_ depth: Double) { self.depth = depth }
}

@Suite struct `The share of a percentile` {
  private let context: ModelContext

  init() throws {
    let container = try ModelContainer(
      for: DepthMark.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
  }

  @Test(arguments: [2, -1, 1.0001, .nan, .infinity] as [Double], [0, 3])
  func `is refused if it is not from 0 to 1`(share: Double, count: Int) throws {
    for depth in 0..<count { context.insert(DepthMark(Double(depth))) }
    try context.save()
    let all = FetchDescriptor<DepthMark>()
    #expect(throws: SwiftDataError.invalidPercentile) {
      try context.aggregate(all, .percentile(share, \.depth))
    }
    #expect(throws: SwiftDataError.invalidPercentile) {
      try context.aggregate(all, by: \.depth, .percentile(share, \.depth))
    }
    let error = #expect(throws: SwiftDataError.self) {
      try context.aggregate(
        all,
        .percentile(share, #Expression { (mark: DepthMark) in mark.depth * 2 })
      )
    }
    #expect(error?.message.contains("expected a number from 0 to 1, found \(share)") == true)
  }

  @Test func `may be its ends`() throws {
    for depth in 0..<3 { context.insert(DepthMark(Double(depth))) }
    let (least, greatest) = try context.aggregate(
      FetchDescriptor<DepthMark>(),
      .percentile(0, \.depth),
      .percentile(1, \.depth)
    )
    #expect((least, greatest) == (0, 2))
  }
}
