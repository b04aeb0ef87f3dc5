import Foundation
import JSONStore
import SwiftData
import Testing

@Model
private final class Leaf {
  var key: Int
  var title = ""
  var visits = 0
  init(key: Int) { self.key = key }
}

@Suite struct `A store that cannot compare values` {
  private func leaf(_ context: ModelContext) throws -> Leaf {
    try #require(try context.fetch(FetchDescriptor<Leaf>()).first)
  }

  @Test func `refuses policies and additions by its name`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = try ModelContainer(
      for: Schema([Leaf.self]),
      configurations: [JSONStoreConfiguration(name: "pages", url: folder.appending(path: "p.json"))]
    )
    let context = ModelContext(container)
    context.insert(Leaf(key: 1))
    try context.save()
    let page = try leaf(context)
    page.title = "new"
    for policy in [MergePolicy.throw, .keepStored, .decide { _ in .own }] {
      let error = #expect(throws: SwiftDataError.self) { try context.save(mergePolicy: policy) }
      #expect(error?.message.contains("JSONStore \"pages\" cannot compare") == true)
    }
    try context.save()
    page.add(1, to: \.visits)
    let error = #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(error?.message.contains("adding to Leaf.visits needs") == true)
    page.visits = 3
    try context.save()
    #expect(try leaf(ModelContext(container)).visits == 3)
  }
}
