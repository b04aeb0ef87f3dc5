import Foundation
import ModelRuntime
import PostgresStore
import Testing

private enum Before: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Wagon.self, Train.self] }

  @Model final class Wagon {
    @Attribute(.unique) var plate: String
    var label: String
    var first: Int = 1
    var second: Int = 2
    var kept: Double = 0.5
    var givenUp: Double = 1.5
    var front: Train?
    var back: Train?

    init(_ plate: String, label: String, front: Train? = nil, back: Train? = nil) {
      (self.plate, self.label, self.front, self.back) = (plate, label, front, back)
    }
  }

  @Model final class Train {
    var name: String
    @Relationship(inverse: \Wagon.front) var fronts: [Wagon] = []
    @Relationship(inverse: \Wagon.back) var backs: [Wagon] = []
    init(_ name: String) { self.name = name }
  }
}

/// Two texts and two relationships exchange their names, one number moves up behind another, and one takes a name that is
/// given up.
private enum After: VersionedSchema {
  static var versionIdentifier: Schema.Version { .init(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Wagon.self, Train.self] }

  @Model final class Wagon {
    @Attribute(.unique, originalName: "label") var plate: String
    @Attribute(originalName: "plate") var label: String
    @Attribute(originalName: "first") var second: Int = 20
    @Attribute(originalName: "second") var third: Int = 30
    @Attribute(originalName: "kept") var givenUp: Double = 0
    @Relationship(originalName: "back") var front: Train?
    @Relationship(originalName: "front") var back: Train?

    init(_ plate: String, label: String) { (self.plate, self.label) = (plate, label) }
  }

  @Model final class Train {
    var name: String
    @Relationship(inverse: \Wagon.front) var fronts: [Wagon] = []
    @Relationship(inverse: \Wagon.back) var backs: [Wagon] = []
    init(_ name: String) { self.name = name }
  }
}

private enum Plan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Before.self, After.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: Before.self, toVersion: After.self)]
  }
}

@Suite struct `Names that properties exchange on a server` {
  private func open(
    _ schema: any VersionedSchema.Type,
    _ namespace: TestNamespace
  ) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: schema),
        migrationPlan: Plan.self,
        configurations: [namespace.configuration]
      )
    )
  }

  @Test func `come with their values, once`() throws {
    let namespace = try TestNamespace()
    let before = try open(Before.self, namespace)
    let (north, south) = (Before.Train("north"), Before.Train("south"))
    before.insert(north)
    before.insert(south)
    for number in 0..<3 {
      before.insert(
        Before.Wagon("plate \(number)", label: "label \(number)", front: north, back: south)
      )
    }
    try before.save()

    for _ in 0..<3 {
      let after = try open(After.self, namespace)
      let wagons = try after.fetch(
        FetchDescriptor<After.Wagon>(sortBy: [SortDescriptor(\.plate)])
      )
      #expect(wagons.map(\.plate) == ["label 0", "label 1", "label 2"])
      #expect(wagons.map(\.label) == ["plate 0", "plate 1", "plate 2"])
      #expect(wagons.map(\.second) == [1, 1, 1])
      #expect(wagons.map(\.third) == [2, 2, 2])
      #expect(wagons.map(\.givenUp) == [0.5, 0.5, 0.5])
      #expect(wagons.map { $0.front?.name } == ["south", "south", "south"])
      #expect(wagons.map { $0.back?.name } == ["north", "north", "north"])
      let trains = try after.fetch(FetchDescriptor<After.Train>(sortBy: [SortDescriptor(\.name)]))
      #expect(trains.map { $0.fronts.map(\.plate) } == [[], ["label 0", "label 1", "label 2"]])
      #expect(trains.map { $0.backs.map(\.plate) } == [["label 0", "label 1", "label 2"], []])
    }

    // What is unique is the property of that name: here the update of a wagon that is there.
    let after = try open(After.self, namespace)
    after.insert(After.Wagon("label 1", label: "new"))
    after.insert(After.Wagon("plate 1", label: "plate 2"))
    try after.save()
    let labels = try after.fetch(FetchDescriptor<After.Wagon>(sortBy: [SortDescriptor(\.plate)]))
    #expect(labels.map(\.label) == ["plate 0", "new", "plate 2", "plate 2"])
  }
}
