import Foundation
import ModelRuntime
import Testing

@Suite struct `A schema that cannot be` {
  struct Opaque {}

  final class Holder: Described, DescribedModel {
    var pair = (1, "one")
    var opaque = Opaque()
    var others: Set<Other> = []
    var byName: [String: Other]?
    var colour = Opaque()
    class var schemaMetadata: [Schema.PropertyMetadata] {
      [
        .init("pair", \Holder.pair),
        .init("opaque", \Holder.opaque),
        .init("others", \Holder.others),
        .init("byName", \Holder.byName),
        .init("colour", \Holder.colour, Schema.Attribute(.transformable(by: "Colour"))),
      ]
    }
  }

  final class Other: Described, DescribedModel {
    class var schemaMetadata: [Schema.PropertyMetadata] { [] }
  }

  @Test(arguments: [
    "Holder.pair of type (Swift.Int, Swift.String) cannot be stored: "
      + "the type is neither Codable, nor a model, nor transformable",
    "Opaque cannot be stored",
    "Other> cannot be stored: a relationship to many models is an array",
    "Holder.byName of type",
  ])
  func `names every property it cannot store, and its type`(expected: String) throws {
    let schema = Schema([Holder.self])
    #expect(throws: SwiftDataError.invalidSchema) { try schema.validate() }
    #expect(try #require(schema.complaint).contains(expected))
    #expect(schema.problems.map(\.entityName) == Array(repeating: "Holder", count: 4))
    #expect(schema.problems.map(\.propertyName) == ["pair", "opaque", "others", "byName"])
    #expect(schema.entities[0].storedProperties.map(\.name) == ["colour"])
  }

  @Test func `names both classes of one entity name`() throws {
    enum Old {
      final class Item: Described, DescribedModel {
        class var schemaMetadata: [Schema.PropertyMetadata] { [] }
      }
    }
    enum New {
      final class Item: Described, DescribedModel {
        class var schemaMetadata: [Schema.PropertyMetadata] { [] }
      }
    }
    let complaint = try #require(Schema([Old.Item.self, New.Item.self]).complaint)
    #expect(complaint.contains("New"))
    #expect(complaint.contains("Old"))
    #expect(complaint.hasSuffix("have the same entity name \"Item\""))
  }

  @Test func `names a constraint on something that is no single stored property`() throws {
    final class Group: Described, DescribedModel {
      var members: [Other] = []
      var size: Int { members.count }
      class var schemaMetadata: [Schema.PropertyMetadata] {
        [
          .init("members", \Group.members),
          .init(
            "SwiftData.Schema.Unique",
            \Schema.encodingVersion,
            Schema.Unique<Group>([\.members], [\.size])
          ),
          .init(
            "SwiftData.Schema.Index",
            \Schema.encodingVersion,
            Schema.Index<Group>([\.size])
          ),
        ]
      }
    }
    let messages = Schema([Group.self]).problems.map(\.message)
    try #require(messages.count == 3)
    #expect(messages[0] == "#Unique of Group names members, a relationship to many models")
    #expect(messages[1].hasPrefix("#Unique of Group names \\Group."))
    #expect(messages[2].hasPrefix("#Index of Group names \\Group."))
    #expect(
      messages.dropFirst().allSatisfy { $0.hasSuffix("which is not one of its stored properties") }
    )
  }

  @Test func `names two properties that come from one and the same`() throws {
    final class Renamed: Described, DescribedModel {
      var title = ""
      var heading = ""
      var kept = ""
      class var schemaMetadata: [Schema.PropertyMetadata] {
        [
          .init("title", \Renamed.title, Schema.Attribute(originalName: "name")),
          .init("heading", \Renamed.heading, Schema.Attribute(originalName: "name")),
          .init("kept", \Renamed.kept, Schema.Attribute(originalName: "kept")),
        ]
      }
    }
    let schema = Schema([Renamed.self])
    #expect(throws: SwiftDataError.invalidSchema) { try schema.validate() }
    #expect(
      schema.problems.map(\.message) == [
        "Renamed.title and Renamed.heading both have the originalName \"name\": expected one property that takes over "
          + "its values"
      ]
    )
  }

  @Test(arguments: [(5, 2), (-1, 0), (0, -1)], [nil, "owners"])
  func `names numbers of related models that none can meet`(
    _ bounds: (least: Int, greatest: Int),
    originalName: String?
  ) {
    let node = Schema.Entity("Node")
    let link = Schema.Relationship(
      minimumModelCount: bounds.least,
      maximumModelCount: bounds.greatest,
      originalName: originalName
    )
    link.name = "nodes"
    link.destination = "Node"
    node.storedProperties = [link]
    #expect(
      Schema(node).complaint?.hasPrefix(
        "Node.nodes leads to at least \(bounds.least) and at most \(bounds.greatest) models: expected"
      ) == true
    )
  }

  @Test func `made by hand is checked by name`() {
    let node = Schema.Entity("Node")
    node.superentityName = "Root"
    #expect(
      Schema(node).complaint
        == "Node has the superentity \"Root\", which the schema does not contain"
    )
    #expect(
      Schema(Schema.Entity("A"), Schema.Entity("A")).complaint
        == "the schema has two entities named \"A\""
    )
    let loop = Schema.Entity("Loop")
    loop.superentityName = "Loop"
    #expect(Schema(loop).complaint == "Loop inherits from itself")
    let left = Schema.Entity("Left")
    let link = Schema.Relationship()
    link.name = "right"
    link.destination = "Right"
    left.storedProperties = [link]
    #expect(
      Schema(left).complaint == "Left.right leads to \"Right\", which the schema does not contain"
    )
  }
}

@Suite struct `An error of the framework` {
  @Test func `is caught by its case, whatever it carries`() {
    let explained = SwiftDataError.unsupportedKeyPath.explained(
      "Trip.name is not stored",
      entity: "Trip",
      property: "name",
      causedBy: CancellationError()
    )
    #expect(explained == .unsupportedKeyPath)
    #expect(explained.hashValue == SwiftDataError.unsupportedKeyPath.hashValue)
    #expect(explained != .unsupportedPredicate)
    var caught = false
    do { throw explained } catch SwiftDataError.unsupportedKeyPath { caught = true } catch {}
    #expect(caught)
    #expect(!(SwiftDataError.unsupportedKeyPath ~= CancellationError()))
  }

  @Test func `says what happened and why`() {
    let error = SwiftDataError.loadIssueModelContainer.explained(
      "trips.store could not be opened",
      causedBy: SwiftDataError.unknownSchema
    )
    #expect(
      error.localizedDescription == """
        SwiftDataError.loadIssueModelContainer: trips.store could not be opened: \
        SwiftDataError.unknownSchema: the schema is not part of the migration plan
        """
    )
    #expect(error.underlyingError as? SwiftDataError == .unknownSchema)
  }
}
