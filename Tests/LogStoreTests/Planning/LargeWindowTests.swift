import Foundation
import SwiftData
import Testing

/// What one of many devices has read.
@Model final class WindowReading {
  #Index<WindowReading>([\.device, \.number])
  var device: Int
  var number: Int

  init(device: Int, number: Int) {
    self.device = device
    self.number = number
  }
}

@Suite struct `A sorted fetch with a window far beyond the rows` {
  private static let immense = 5_000_000_000_000_000_000

  @Test(
    arguments: [
      (immense, nil), (1 << 62, nil), (.max - 1, nil), (50, immense), (1, .max - 1),
      (immense, immense),
    ] as [(Int, Int?)]
  )
  func `has the rows that are in it`(limit: Int, offset: Int?) throws {
    let container = try ModelContainer(
      for: WindowReading.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    for number in 0..<400 { context.insert(WindowReading(device: number % 10, number: number)) }
    try context.save()
    var descriptor = FetchDescriptor<WindowReading>(
      predicate: #Predicate { $0.device == 3 },
      sortBy: [SortDescriptor(\.number, order: .reverse)]
    )
    descriptor.fetchLimit = limit
    descriptor.fetchOffset = offset
    let all = Array(stride(from: 393, through: 3, by: -10))
    let expected = offset == nil ? all : []
    #expect(try ModelContext(container).fetch(descriptor).map(\.number) == expected)
    #expect(try ModelContext(container).fetchCount(descriptor) == expected.count)
  }
}
