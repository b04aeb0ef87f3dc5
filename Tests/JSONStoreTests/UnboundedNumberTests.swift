import Foundation
import JSONStore
import SwiftData
import Testing

@Model final class Gauge {
  var level: Double
  var share: Float
  var seen: Date?
  var history: [Double] = []

  init(level: Double) {
    self.level = level
    share = Float(level)
    history = [1, level]
  }
}

@Suite struct `A number that is not finite, in an archive` {
  @Test(arguments: [Double.infinity, -.infinity, .nan, 1.5])
  func `is kept`(number: Double) throws {
    let folder = try TemporaryFolder()
    let container = try ModelContainer(
      for: Schema([Gauge.self]),
      configurations: [
        JSONStoreConfiguration(name: "gauges", url: folder.url.appending(path: "gauges.json"))
      ]
    )
    let context = ModelContext(container)
    let gauge = Gauge(level: number)
    gauge.seen = Date(timeIntervalSinceReferenceDate: number)
    context.insert(gauge)
    try context.save()
    let read = try #require(try ModelContext(container).fetch(FetchDescriptor<Gauge>()).first)
    let numbers = [
      read.level, Double(read.share), read.seen?.timeIntervalSinceReferenceDate ?? 0,
      read.history.last ?? 0,
    ]
    #expect(numbers.allSatisfy { number.isNaN ? $0.isNaN : $0 == number })
  }
}
