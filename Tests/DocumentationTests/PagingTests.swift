import Foundation
import SwiftData
import Testing

// The snippets of the article Paging and large results, as they are printed there.

@Model
final class Reading {
  #Index<Reading>([\.device, \.number])

  var device: String
  var number: Int
  var value: Double

  init(device: String, number: Int, value: Double) {
    self.device = device
    self.number = number
    self.value = value
  }
}

struct Page: Codable, Equatable {
  var values: [Double]
  var next: PageToken?
}

func page(of device: String, after token: PageToken?, in container: ModelContainer) async throws
  -> Page
{
  try await container.read { context in
    var descriptor = FetchDescriptor<Reading>(
      predicate: #Predicate { $0.device == device },
      sortBy: [SortDescriptor(\.number)]
    )
    descriptor.fetchLimit = 50
    let page = try context.page(descriptor, after: token)
    return Page(values: page.models.map(\.value), next: page.next)
  }
}

@Suite struct `The article on paging` {
  let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: Reading.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    for number in 0..<120 {
      context.insert(Reading(device: "a", number: number, value: Double(number)))
      context.insert(Reading(device: "b", number: number, value: -1))
    }
    try context.save()
  }

  @Test func `goes from page to page by tokens`() async throws {
    var found: [Double] = []
    var sizes: [Int] = []
    var token: PageToken?
    repeat {
      let page = try await page(of: "a", after: token, in: container)
      found += page.values
      sizes.append(page.values.count)
      token = page.next
    } while token != nil
    #expect(sizes == [50, 50, 20])
    #expect(found == (0..<120).map(Double.init))
  }

  @Test func `goes back to the page before`() throws {
    let context = ModelContext(container)
    var readings = FetchDescriptor<Reading>(sortBy: [SortDescriptor(\.number)])
    readings.fetchLimit = 50
    let first = try context.page(readings)
    let second = try context.page(readings, after: first.next)
    if let previous = second.previous {
      let again = try context.page(readings, before: previous)
      #expect(again.models.map(\.number) == first.models.map(\.number))
    }
    #expect(first.previous == nil)
    #expect(second.previous != nil)
  }

  @Test func `counts without models`() throws {
    let context = ModelContext(container)
    let above = FetchDescriptor<Reading>(predicate: #Predicate { $0.value >= 100 })
    let count = try context.fetchCount(above)
    #expect(count == 20)
  }

  @Test func `walks all models in bounded memory`() throws {
    let context = ModelContext(container)
    var sum = 0.0
    try context.enumerate(FetchDescriptor<Reading>(), batchSize: 1000) { reading in
      sum += reading.value
    }
    #expect(sum == 7140 - 120)
  }

  @Test func `changes many models, a save for each batch`() throws {
    let context = ModelContext(container)
    var changed = 0
    try context.enumerate(FetchDescriptor<Reading>(), allowEscapingMutations: true) { reading in
      reading.value *= 2
      changed += 1
      if changed.isMultiple(of: 50) { try context.save() }
    }
    try context.save()
    #expect(changed == 240)
    let doubled = FetchDescriptor<Reading>(predicate: #Predicate { $0.value == 238 })
    #expect(try ModelContext(container).fetchCount(doubled) == 1)
  }

  @Test func `hands out results as a collection that loads itself`() throws {
    let context = ModelContext(container)
    let readings = try context.fetch(
      FetchDescriptor<Reading>(sortBy: [SortDescriptor(\.number)]),
      batchSize: 100
    )
    #expect(readings.count == 240)
    #expect(readings[200].number == 100)
  }

  @Test func `fetches columns without models`() throws {
    let context = ModelContext(container)
    let wanted = FetchDescriptor<Reading>(predicate: #Predicate { $0.device == "a" })
    var rows = 0
    for (number, value) in try context.fetch(wanted, \.number, \.value) {
      if Double(number) == value { rows += 1 }
    }
    #expect(rows == 120)
  }
}
