import Foundation
import JSONStore
import SwiftData
import Testing

@Model final class Parcel {
  var number: Int
  var weight: Double?
  var city: String

  init(_ number: Int) {
    self.number = number
    weight = [nil, -1, 1, 2][number * 7 % 4]
    city = ["Ulm", "Bonn", "Celle"][number * 5 % 3]
  }
}

@Suite struct `Pages from a store of snapshots` {
  @Test(arguments: [SortOrder.forward, .reverse], [false, true])
  func `are together all models, in both directions`(order: SortOrder, unsaved: Bool) throws {
    let folder = try TemporaryFolder()
    let configuration = JSONStoreConfiguration(
      name: "pages",
      url: folder.url.appending(path: "pages.json")
    )
    let context = ModelContext(try ModelContainer(for: Parcel.self, configurations: configuration))
    for number in 0..<100 { context.insert(Parcel(number)) }
    try context.save()
    if unsaved {
      for parcel in try context.fetch(FetchDescriptor<Parcel>()) where parcel.number % 9 == 0 {
        if parcel.number % 2 == 0 { context.delete(parcel) } else { parcel.city = "Ahlen" }
      }
      for number in 100..<120 { context.insert(Parcel(number)) }
    }
    let orders: [[SortDescriptor<Parcel>]] = [
      [], [SortDescriptor(\.city, order: order)],
      [SortDescriptor(\.weight, order: order), SortDescriptor(\.city)],
    ]
    for keys in orders {
      var descriptor = FetchDescriptor<Parcel>(
        predicate: #Predicate { $0.number > 3 },
        sortBy: keys
      )
      let all = try context.fetch(descriptor)
      descriptor.fetchLimit = 9
      var pages = [try context.page(descriptor)]
      while let next = pages[pages.count - 1].next {
        pages.append(try context.page(descriptor, after: next))
      }
      let shown = pages.flatMap(\.models)
      #expect(Set(shown.map(\.number)) == Set(all.map(\.number)))
      #expect(shown.count == all.count)
      #expect(shown.map(\.weight) == all.map(\.weight) || keys.count < 2)
      #expect(shown.map(\.city) == all.map(\.city) || keys.isEmpty)
      var back = pages[pages.count - 1].models
      var previous = pages[pages.count - 1].previous
      while let token = previous {
        let page = try context.page(descriptor, before: token)
        back = page.models + back
        previous = page.previous
      }
      #expect(back.map(\.number) == shown.map(\.number))
    }
  }
}
