import LogStore
import SwiftData
import Testing

@Suite struct `Taking back values that cannot be compared` {
  struct Reading: Codable {
    var depth: Double
  }

  @Model final class Sounding {
    var reading: Reading
    var depth: Double

    init(_ depth: Double) {
      reading = Reading(depth: depth)
      self.depth = depth
    }
  }

  @Test(arguments: [4, .nan]) func `sees no conflict in what is again as it was`(
    depth: Double
  ) throws {
    let container = try ModelContainer(
      for: Sounding.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let sounding = Sounding(depth)
    context.insert(sounding)
    try context.save()
    func set(_ depth: Double, as author: String) throws {
      sounding.reading = Reading(depth: depth)
      sounding.depth = depth
      context.author = author
      try context.save()
    }
    try set(7, as: "import")
    try set(depth, as: "mine")
    let reversal = try context.revert(author: "import")
    #expect(reversal.conflicts.isEmpty && reversal.updated.isEmpty)
    #expect(!context.hasChanges)
    try set(8, as: "mine")
    #expect(try context.revert(author: "import").conflicts.count == 2)
  }
}
