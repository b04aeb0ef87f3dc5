import Foundation
import LogEngineTestSupport
import SwiftData
import Testing

/// A model of attributes that are read from the row when they are needed.
@Model private final class Keepsake {
  struct Place: Codable, Equatable { var latitude = 0.0 }
  enum Shape: Codable, Equatable { case point, circle(Double) }

  var name = "old"
  var tags: [String] = []
  var place: Place?
  var shape = Shape.point
  @Attribute(.externalStorage) var picture: Data?
  var counts: [String: Int] = [:]
  var price: Decimal = 0
  var box: Box?

  init() {}

  func change() {
    name = "new"
    tags = ["new"]
    place = Place(latitude: 1)
    shape = .circle(2)
    picture = Data(repeating: 7, count: 10)
    counts = ["a": 1]
    price = 1.5
  }

  var values: String {
    "\(name) \(tags) \(place?.latitude ?? -1) \(shape) \(picture?.count ?? -1) \(counts) \(price)"
  }
}

@Model private final class Box {
  var number = 1
  @Relationship(inverse: \Keepsake.box) var keepsakes: [Keepsake] = []
  init() {}
}

@Suite struct `A model that is inserted again` {
  private let container: ModelContainer
  private let context: ModelContext
  private let keepsake = Keepsake()

  init() throws {
    container = try ModelContainer(
      for: Keepsake.self,
      Box.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    context.insert(keepsake)
    try context.save()
  }

  private func stored() throws -> [String] {
    try ModelContext(container).fetch(FetchDescriptor<Keepsake>()).map(\.values)
  }

  enum Order: CaseIterable {
    case changedThenDeleted, deletedThenChanged, savedBetween, deletedTwice, goneAgain, rolledBack
  }

  @Test(arguments: Order.allCases)
  func `has the values that it shows, though they were never saved`(order: Order) throws {
    switch order {
    case .changedThenDeleted:
      keepsake.change()
      context.delete(keepsake)
    case .deletedThenChanged:
      context.delete(keepsake)
      keepsake.change()
    case .savedBetween:
      keepsake.change()
      try context.save()
      keepsake.tags = ["newer"]
      context.delete(keepsake)
    case .deletedTwice:
      keepsake.change()
      context.delete(keepsake)
      try context.save()
      context.insert(keepsake)
      try context.save()
      keepsake.tags = ["newer"]
      context.delete(keepsake)
    case .goneAgain:
      context.delete(keepsake)
      try context.save()
      keepsake.change()
      context.insert(keepsake)
      context.delete(keepsake)
    case .rolledBack:
      context.delete(keepsake)
      try context.save()
      keepsake.change()
      context.insert(keepsake)
      context.rollback()
    }
    try context.save()
    #expect(try stored().isEmpty)
    context.insert(keepsake)
    let shown = keepsake.values
    try context.save()
    #expect(keepsake.values == shown)
    #expect(try stored() == [shown])
  }

  @Test func `has them in another context, too`() throws {
    keepsake.change()
    context.delete(keepsake)
    try context.save()
    let other = ModelContext(container)
    other.insert(keepsake)
    let shown = keepsake.values
    try other.save()
    #expect(try stored() == [shown])
  }

  @Test func `has them after its delete is undone`() throws {
    context.undoManager = UndoManager()
    keepsake.change()
    context.processPendingChanges()
    context.delete(keepsake)
    try context.save()
    context.undoManager?.undo()
    let shown = keepsake.values
    try context.save()
    #expect(try stored() == [shown])
  }

  private func deleteElsewhere() throws {
    let other = ModelContext(container)
    try other.delete(model: Keepsake.self)
    try other.save()
  }

  @Test(arguments: [false, true], [false, true])
  func `becomes a new one if others have deleted it`(isChanged: Bool, isFetched: Bool) throws {
    #expect(keepsake.name == "old")
    try deleteElsewhere()
    if isFetched { #expect(try context.fetch(FetchDescriptor<Keepsake>()).isEmpty) }
    if isChanged { keepsake.change() }
    let shown = keepsake.values
    context.insert(keepsake)
    #expect(context.hasChanges)
    #expect(!keepsake.isDeleted)
    #expect(keepsake.persistentModelID.isTemporary)
    #expect(context.insertedModelsArray.count == 1 && context.changedModelsArray.isEmpty)
    try context.save()
    #expect(try stored() == [shown])
    #expect(try context.fetch(FetchDescriptor<Keepsake>()).first === keepsake)
  }

  @Test func `becomes a new one after a save and a rollback that met its delete`() throws {
    keepsake.name = "newer"
    try deleteElsewhere()
    #expect(throws: SwiftDataError.self) { try context.save() }
    context.rollback()
    context.insert(keepsake)
    try context.save()
    #expect(try stored().count == 1)
  }

  @Test func `is related again where it was put into a list`() throws {
    let box = Box()
    context.insert(box)
    try context.save()
    try deleteElsewhere()
    context.insert(keepsake)
    box.keepsakes.append(keepsake)
    try context.save()
    let found = try ModelContext(container).fetch(FetchDescriptor<Box>()).first
    #expect(found?.keepsakes.count == 1)
  }

  @Test func `stays as it is if it is there`() throws {
    context.insert(keepsake)
    #expect(!context.hasChanges)
    keepsake.name = "newer"
    context.insert(keepsake)
    #expect(context.changedModelsArray.count == 1 && context.insertedModelsArray.isEmpty)
    try context.save()
    #expect(try stored().count == 1)
  }

  /// Changes, deletes, inserts, saves, undoes and rolls back by chance.
  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func `is stored as it is shown, whatever was done before`(seed: UInt64) throws {
    var chance = SeededGenerator(seed: seed)
    let manager = chance.oneIn(2) ? UndoManager() : nil
    manager?.groupsByEvent = false
    // An undo inserts into the context that the manager belongs to.
    let second = manager == nil ? ModelContext(container) : context
    context.undoManager = manager
    var steps: [String] = []
    for number in 0..<40 {
      let current = keepsake.modelContext ?? (chance.oneIn(5) ? second : context)
      manager?.beginUndoGrouping()
      switch Int.random(in: 0..<9, using: &chance) {
      case 0, 1:
        keepsake.place = Keepsake.Place(latitude: Double(number))
        keepsake.tags = ["\(number)"]
        steps.append("change")
      case 2:
        keepsake.price = Decimal(number)
        keepsake.shape = .circle(Double(number))
        keepsake.picture = Data(repeating: 1, count: number)
        steps.append("change others")
      case 3, 4:
        if keepsake.modelContext != nil { current.delete(keepsake) }
        steps.append("delete")
      case 5, 6:
        current.insert(keepsake)
        steps.append("insert")
      case 7 where chance.oneIn(3):
        current.rollback()
        steps.append("roll back")
      default: steps.append("save")
      }
      context.processPendingChanges()
      manager?.endUndoGrouping()
      if steps.last == "save" { try current.save() }
      if let manager, chance.oneIn(6), manager.canUndo {
        manager.undo()
        steps.append("undo")
        try context.save()
      } else if steps.last != "save" {
        continue
      }
      let isStored = keepsake.modelContext != nil && !keepsake.isDeleted && !current.hasChanges
      if !isStored && keepsake.modelContext != nil { continue }
      let expected = isStored ? [keepsake.values] : []
      #expect(try stored() == expected, "seed \(seed): \(steps.joined(separator: ", "))")
    }
  }
}
