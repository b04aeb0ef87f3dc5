import Foundation
import LogStore
import SwiftData
import Testing

private enum Parts {
  @Model final class Trip {
    var name = ""
    init(_ name: String) { self.name = name }
  }
  @Model final class Note {
    var text = ""
    init(_ text: String) { self.text = text }
  }
}

private enum Newer {
  @Model final class Trip {
    var name = ""
    var days = 0
    init() {}
  }
}

/// Containers that know as little of each other as if each were in a process of its own.
@Suite struct `Containers of several processes that have other models` {
  enum End: CaseIterable { case opened, closed }

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(
    _ models: [any PersistentModel.Type],
    allowsSave: Bool = true
  ) throws -> ModelContainer {
    var configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "store"),
      allowsSave: allowsSave,
      durability: .relaxed
    )
    configuration.writers = .severalProcesses
    configuration.sharesOpenStore = false
    return try ModelContainer(for: Schema(models), configurations: [configuration])
  }

  private func names(in container: ModelContainer) throws -> [String] {
    try ModelContext(container).fetch(FetchDescriptor<Parts.Trip>()).map(\.name)
  }

  @Test(arguments: End.allCases)
  func `read with fewer of them`(writer: End) async throws {
    let all = try open([Parts.Trip.self, Parts.Note.self])
    let context = ModelContext(all)
    context.insert(Parts.Trip("a"))
    try context.save()
    if writer == .closed { try await all.close() }
    let reader = try open([Parts.Trip.self], allowsSave: false)
    #expect(try names(in: reader) == ["a"])
    try await reader.close()
    if writer == .opened { try await all.close() }
  }

  @Test func `are refused if they only read and the store lacks what they have`() async throws {
    let container = try open([Parts.Trip.self])
    let error = #expect(throws: LogStoreError.self) {
      try open([Newer.Trip.self], allowsSave: false)
    }
    guard case .schemaNotInStore("Trip", _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    try await container.close()
  }

  @Test func `save to the tables that they share, without waiting for one another`() async throws {
    let all = try open([Parts.Trip.self, Parts.Note.self])
    let some = try open([Parts.Trip.self])
    for (name, container) in [("a", all), ("b", some), ("c", all)] {
      let context = ModelContext(container)
      context.insert(Parts.Trip(name))
      try context.save()
    }
    #expect(try Set(names(in: some)) == ["a", "b", "c"])
    try await all.close()
    let again = try open([Parts.Trip.self, Parts.Note.self])
    #expect(try Set(names(in: again)) == ["a", "b", "c"])
    for container in [some, again] { try await container.close() }
  }
}
