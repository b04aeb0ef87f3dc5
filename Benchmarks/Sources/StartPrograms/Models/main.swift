import Foundation
import SwiftData

// A program that fetches one model; makes the store where there is none.
@Model
final class Visit {
  var place: String
  var rating: Int

  init(place: String, rating: Int) {
    self.place = place
    self.rating = rating
  }
}

let container = try ModelContainer(
  for: Visit.self,
  configurations: LogStoreConfiguration(
    url: URL(fileURLWithPath: CommandLine.arguments[1]),
    durability: .relaxed
  )
)
let context = ModelContext(container)
var first = FetchDescriptor<Visit>()
first.fetchLimit = 1
if try context.fetch(first).isEmpty {
  context.insert(Visit(place: "Oslo", rating: 7))
  try context.save()
}
print(try context.fetch(first).map(\.rating) == [7] ? "row" : "nothing")
