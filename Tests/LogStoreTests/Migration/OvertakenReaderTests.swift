import Foundation
import LogStore
import SwiftData
import Testing

private enum Seen: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Signal.self] }

  @Model final class Signal {
    var number: Int
    var text: String = "s"
    init(_ number: Int) { self.number = number }
  }
}

private enum Unseen: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Signal.self] }

  @Model final class Signal {
    var number: Int
    @Attribute(originalName: "text") var label: String = "s"
    var strength = 1
    init(_ number: Int) { self.number = number }
  }
}

@Suite struct `A container that only reads, of a store that others bring to newer models` {
  @Test func `says that the store has other models by now`() throws {
    let folder = try TemporaryFolder()
    func open(_ version: any VersionedSchema.Type, allowsSave: Bool) throws -> ModelContainer {
      let schema = Schema(versionedSchema: version)
      return try ModelContainer(
        for: schema,
        configurations: LogStoreConfiguration(
          schema: schema,
          url: folder.url.appending(path: "signals.store"),
          allowsSave: allowsSave
        )
      )
    }
    do {
      let context = ModelContext(try open(Seen.self, allowsSave: true))
      for number in 0..<3 { context.insert(Seen.Signal(number)) }
      try context.save()
    }
    let reader = try open(Seen.self, allowsSave: false)
    #expect(try ModelContext(reader).fetchCount(FetchDescriptor<Seen.Signal>()) == 3)
    do {
      let context = ModelContext(try open(Unseen.self, allowsSave: true))
      for signal in try context.fetch(FetchDescriptor<Unseen.Signal>()) { signal.strength = 2 }
      try context.save()
    }
    let descriptor = FetchDescriptor<Seen.Signal>(sortBy: [.init(\.number)])
    for _ in 0..<2 {
      let error = #expect(throws: LogStoreError.self) {
        try ModelContext(reader).fetch(descriptor).map(\.text)
      }
      guard case .schemaNotInStore("Signal", _)? = error else {
        Issue.record("expected schemaNotInStore, found \(String(describing: error))")
        continue
      }
    }
  }
}
