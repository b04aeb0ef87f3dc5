import Foundation
import SwiftData
import Testing

@Model class Craft {
  @Attribute(.preserveValueOnDeletion) var plate: String
  var colour = ""

  init(_ plate: String) { self.plate = plate }
}

@Model final class Barge: Craft {
  @Attribute(.preserveValueOnDeletion) var load = 0

  override init(_ plate: String) { super.init(plate) }
}

@Suite struct `The history of a class that inherits properties` {
  @Test func `keeps their values in tombstones`() throws {
    let container = try ModelContainer(
      for: Craft.self,
      Barge.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let barge = Barge("B-1")
    barge.load = 7
    context.insert(barge)
    try context.save()
    context.delete(barge)
    try context.save()
    let last = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last
    guard case .delete(let delete as DefaultHistoryDelete<Barge>) = last?.changes.first else {
      Issue.record("no delete of a barge in \(String(describing: last))")
      return
    }
    #expect(delete.tombstone[\.plate] as? String == "B-1")
    #expect(delete.tombstone[\.load] as? Int == 7)
    #expect(delete.tombstone[\.colour] == nil)
    #expect(delete.tombstone.count(where: { _ in true }) == 2)
  }

  @Test func `tells which of them were set`() throws {
    let container = try ModelContainer(
      for: Craft.self,
      Barge.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let barge = Barge("B-1")
    context.insert(barge)
    try context.save()
    barge.colour = "red"
    try context.save()
    barge.load = 7
    try context.save()
    let updates = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
      .flatMap(\.changes)
      .compactMap { change -> DefaultHistoryUpdate<Barge>? in
        guard case .update(let update as DefaultHistoryUpdate<Barge>) = change else { return nil }
        return update
      }
    try #require(updates.count == 2)
    #expect(updates[0].sets(\.colour) && !updates[0].sets(\.plate) && !updates[0].sets(\.load))
    #expect(updates[0].updatedAttributes.isEmpty)
    #expect(updates[1].sets(\.load) && !updates[1].sets(\.colour))
    #expect(updates[1].updatedAttributes.map { $0 as PartialKeyPath<Barge> } == [\.load])
  }
}
