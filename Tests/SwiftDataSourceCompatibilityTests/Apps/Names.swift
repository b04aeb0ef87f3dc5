import Foundation
import SwiftData

// Names that an app is free to choose, and methods named without their labels.

/// Named as generated code might name a variable.
let properties = ["first", "second"]

@Model
final class Root {
  var names = properties
  @Relationship(deleteRule: .cascade) var leaves: [Leaf] = []

  init() {}
}

@Model
final class Leaf: PersistentModel {
  var number: Int

  init(_ number: Int) { self.number = number }
}

extension PersistentIdentifier {
  /// An app's own, from before.
  func uriRepresentation() -> URL? { URL(string: "app://\(entityName)") }
}

struct Plant {
  let context: ModelContext

  func grow(_ leaves: [Leaf]) throws {
    leaves.forEach(context.insert)
    let save = context.save
    try save()
  }

  func shed(_ offsets: IndexSet) throws {
    let leaves = try context.fetch(FetchDescriptor<Leaf>(sortBy: [SortDescriptor(\.number)]))
    offsets.map { leaves[$0] }.forEach(context.delete)
    leaves.last.map(context.delete)
    let insert: (Root) -> Void = context.insert
    insert(Root())
    try Result(catching: context.save).get()
  }
}
