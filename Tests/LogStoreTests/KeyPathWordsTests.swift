import Foundation
import LogStore
import SwiftData
import Testing

enum Chandlery {
  struct Size: Codable, Equatable {
    var width: Double
    var height: Double
  }

  @Model final class Hawser {
    var size = Size(width: 1, height: 1)
    var label: String?
    var bollard: Bollard?
    var isLong: Bool { size.width > 1 }

    init() {}
  }

  @Model final class Bollard {
    var size: Size?
    @Relationship(inverse: \Hawser.bollard) var hawsers: [Hawser] = []

    init() {}
  }
}

@Suite struct `A key path in an error` {
  private typealias Hawser = Chandlery.Hawser
  private let context: ModelContext

  init() throws {
    let container = try ModelContainer(
      for: Hawser.self,
      Chandlery.Bollard.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    // Where there is no model, a batch has nothing to look at.
    context.insert(Hawser())
    try context.save()
  }

  private func words(_ body: () throws -> Void) throws -> String {
    let error = try #require(#expect(throws: (any Error).self) { try body() })
    #expect(!"\(error)".contains("0x"), "\(error)")
    return "\(error)"
  }

  @Test func `has the names of properties, at the end of relationships, too`() throws {
    let hawsers = FetchDescriptor<Hawser>()
    #expect(
      try words { _ = try context.aggregate(hawsers, .maximum(\.size.width)) }
        .contains(#"\Hawser.size.width: a figure needs a stored property"#)
    )
    #expect(
      try words { _ = try context.aggregate(hawsers, by: \.bollard?.size?.height, .count) }
        .contains(#"\Hawser.bollard?.size?.height"#)
    )
    #expect(
      try words { _ = try context.batchUpdate(Hawser.self, .set(\.size.width, to: 3)) }
        .contains(#"\Hawser.size.width is no stored property of Hawser"#)
    )
    #expect(
      try words {
        _ = try context.page(FetchDescriptor<Hawser>(sortBy: [.init(\.size.width)]), after: nil)
      }
      .contains(#"in the order of \Hawser.size.width"#)
    )
    #expect(
      try words { _ = try context.search(hawsers, for: "x", in: \.bollard?.label) }
        .contains(#"\Hawser.bollard?.<Optional<String>>: a search"#)
    )
  }

  @Test func `has the type of a property that the schema does not know`() throws {
    #expect(
      try words {
        _ = try context.page(FetchDescriptor<Hawser>(sortBy: [.init(\.number)]), after: nil)
      }
      .contains(#"in the order of \Hawser.<Int>"#)
    )
  }
}

extension Chandlery.Hawser { fileprivate var number: Int { 1 } }
extension Chandlery.Bollard { fileprivate var label: String? { nil } }
