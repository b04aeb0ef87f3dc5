import Foundation
import ModelRuntime
import Testing

/// What has to hold of two contexts that change one model, for any class.
protocol WideChecking {
  func refreshed() throws
  func undone() throws
  func rolledBack() throws
  func kept(_ policy: MergePolicy) throws
  func changedBetweenRefreshes(_ policy: MergePolicy) throws
  func merged() throws
  func added(_ policy: MergePolicy) throws
  func compared() throws
  func batched() throws
}

/// Two contexts that change one model with many properties, and what has to come of it: in any store.
struct WideCheck<M: WideModel>: WideChecking {
  let first: ModelContext
  let second: ModelContext
  /// What the first context changes.
  let own = M.lastNumbers[M.lastNumbers.count - 1]
  /// What the second one changes, which shares a mark with that.
  let other = M.lastNumbers[M.lastNumbers.count - 2]

  /// - Parameters:
  ///   - container: The first context's container, in which there is nothing yet.
  ///   - sibling: The second one's.
  ///   - type: The class.
  /// - Throws: What the save of a model throws.
  init(_ container: ModelContainer, _ sibling: ModelContainer, _ type: M.Type) throws {
    first = ModelContext(container)
    second = ModelContext(sibling)
    let writer = ModelContext(container)
    writer.insert(M())
    try writer.save()
  }

  func model(_ context: ModelContext) throws -> M {
    try #require(try context.fetch(FetchDescriptor<M>()).first)
  }

  func stored() throws -> M { try model(ModelContext(second.container)) }

  /// Has the second context save a value.
  func save(_ value: Int, _ path: ReferenceWritableKeyPath<M, Int>? = nil) throws {
    let theirs = try model(second)
    theirs[keyPath: path ?? other] = value
    try second.save()
  }

  func conflicts(_ policy: MergePolicy) throws -> [String] {
    do {
      try first.save(mergePolicy: policy)
      return []
    } catch let error as SwiftDataError {
      return try #require(error.underlyingError as? MergeConflicts).conflicts.map(\.property)
    }
  }

  // MARK: In any store

  /// What a fetch reads between a change and the save is not written back.
  func refreshed() throws {
    let mine = try model(first)
    mine[keyPath: own] = 1
    try save(5)
    #expect(try model(first)[keyPath: other] == 5)
    try first.save()
    let read = try stored()
    #expect(read[keyPath: own] == 1 && read[keyPath: other] == 5)
    #expect(mine[keyPath: other] == 5)
  }

  /// Undoing one change leaves the others, and the property to the store.
  func undone() throws {
    let undo = UndoManager()
    undo.groupsByEvent = false
    first.undoManager = undo
    let mine = try model(first)
    undo.beginUndoGrouping()
    mine[keyPath: own] = 1
    undo.endUndoGrouping()
    undo.beginUndoGrouping()
    mine[keyPath: other] = 2
    undo.endUndoGrouping()
    undo.undo()
    try save(5)
    #expect(try model(first)[keyPath: other] == 5)
    #expect(mine[keyPath: own] == 1)
    undo.undo()
    #expect(!first.hasChanges && !mine.hasChanges)
    #expect(mine[keyPath: own] == 0)
    undo.redo()
    try first.save()
    let read = try stored()
    #expect(read[keyPath: own] == 1 && read[keyPath: other] == 5)
  }

  func rolledBack() throws {
    let mine = try model(first)
    mine[keyPath: own] = 1
    mine[keyPath: other] = 2
    first.rollback()
    #expect(!first.hasChanges)
    #expect(mine[keyPath: own] == 0 && mine[keyPath: other] == 0)
    try save(5)
    _ = try model(first)
    mine[keyPath: own] = 3
    try first.save()
    let read = try stored()
    #expect(read[keyPath: own] == 3 && read[keyPath: other] == 5)
  }

  // MARK: In a store that writes what was set

  /// Whatever others save stays, also if it was read in between, or never.
  func kept(_ policy: MergePolicy) throws {
    let mine = try model(first)
    mine[keyPath: own] = 1
    try save(5)
    _ = try model(first)
    try save(6)
    try first.save(mergePolicy: policy)
    var read = try stored()
    #expect(read[keyPath: own] == 1 && read[keyPath: other] == 6)
    try save(7)
    mine[keyPath: own] = 2
    try first.save(mergePolicy: .lastWriter)
    read = try stored()
    #expect(read[keyPath: own] == 2 && read[keyPath: other] == 7)
    #expect(mine[keyPath: other] == 7)
  }

  /// Changes of another property come between two refreshes.
  func changedBetweenRefreshes(_ policy: MergePolicy) throws {
    first.mergePolicy = policy
    let mine = try model(first)
    mine[keyPath: own] = 1
    try save(5)
    _ = try model(first)
    for path in M.lastNumbers where path != own && path != other { mine[keyPath: path] = 2 }
    try save(6)
    _ = try model(first)
    try save(7)
    try first.save()
    let read = try stored()
    #expect(read[keyPath: own] == 1 && read[keyPath: other] == 7)
    for path in M.lastNumbers where path != own && path != other {
      #expect(read[keyPath: path] == 2)
    }
  }

  func merged() throws {
    first.automaticallyMergesChanges = true
    let mine = try model(first)
    mine[keyPath: own] = 1
    try save(5)
    first.processPendingChanges()
    try save(6)
    try first.save()
    let read = try stored()
    #expect(read[keyPath: own] == 1 && read[keyPath: other] == 6)
  }

  func added(_ policy: MergePolicy) throws {
    let mine = try model(first)
    mine[keyPath: own] = 1
    try save(5)
    _ = try model(first)
    mine.add(1, to: other)
    let theirs = try model(second)
    theirs.add(10, to: other)
    try second.save()
    try first.save(mergePolicy: policy)
    var read = try stored()
    #expect(read[keyPath: own] == 1 && read[keyPath: other] == 16)
    mine.add(1, to: own)
    mine.add(1, to: other)
    try save(20)
    _ = try model(first)
    try save(30)
    try first.save(mergePolicy: policy)
    read = try stored()
    #expect(read[keyPath: own] == 2 && read[keyPath: other] == 31)
  }

  /// What was set is compared, and nothing else.
  func compared() throws {
    first.mergePolicy = .throw
    let mine = try model(first)
    mine[keyPath: own] = 1
    try save(5)
    #expect(try conflicts(.throw) == [])
    mine[keyPath: own] = 2
    mine[keyPath: other] = 5
    try save(6)
    try save(8, own)
    _ = try model(first)
    let names = ["n\(M.propertyCount - 1)", "n\(M.propertyCount - 2)"]
    #expect(Set(try conflicts(.throw)) == Set(names))
    try first.save(mergePolicy: .keepStored)
    #expect(!first.hasChanges)
    let read = try stored()
    #expect(read[keyPath: own] == 8 && read[keyPath: other] == 6)
    #expect(mine[keyPath: own] == 8 && mine[keyPath: other] == 6)
  }
}

extension WideCheck {
  /// A batch that sets one property leaves the others to those who set them while it runs.
  func batched() throws {
    let read = M.lastNumbers[0]
    if read == other { return }
    let theirs = try model(second)
    var isFirst = true
    try first.batchUpdate(
      M.self,
      .set(own, to: 1),
      .change(read) { value in
        if isFirst {
          isFirst = false
          theirs[keyPath: other] = 5
          try second.save()
        }
        return value + 1
      }
    )
    let found = try stored()
    #expect(found[keyPath: own] == 1 && found[keyPath: other] == 5 && found[keyPath: read] == 1)
  }
}

/// The same of relationships.
struct WideRelationshipCheck {
  let first: ModelContext
  let second: ModelContext

  init(_ container: ModelContainer, _ sibling: ModelContainer) throws {
    first = ModelContext(container)
    second = ModelContext(sibling)
    let writer = ModelContext(container)
    writer.insert(Hub())
    for name in ["a", "b"] {
      writer.insert(Spoke(name))
      writer.insert(Mate(name))
    }
    try writer.save()
  }

  func hub(_ context: ModelContext) throws -> Hub {
    try #require(try context.fetch(FetchDescriptor<Hub>()).first)
  }

  func spoke(_ name: String, _ context: ModelContext) throws -> Spoke {
    let found = try context.fetch(FetchDescriptor<Spoke>(predicate: #Predicate { $0.name == name }))
    return try #require(found.first)
  }

  func twin(_ name: String, _ context: ModelContext) throws -> Mate {
    let found = try context.fetch(FetchDescriptor<Mate>(predicate: #Predicate { $0.name == name }))
    return try #require(found.first)
  }

  func stored() throws -> Hub { try hub(ModelContext(second.container)) }

  /// Each context sets another end; all of them stay, whatever was read in between.
  func keepEachOther(_ policy: MergePolicy) throws {
    let mine = try hub(first)
    mine.first = try spoke("a", first)
    let theirs = try hub(second)
    theirs.second = try spoke("b", second)
    theirs.text = "theirs"
    theirs.tags.append(Banner("theirs"))
    theirs.parts.append(Piece("theirs"))
    try second.save()
    _ = try hub(first)
    theirs.twin = try twin("b", second)
    theirs.tags.append(Banner("theirs, too"))
    try second.save()
    try first.save(mergePolicy: policy)
    mine.tags.append(Banner("mine"))
    mine.parts.append(Piece("mine"))
    theirs.text = "theirs again"
    theirs.second = try spoke("a", second)
    try second.save()
    try first.save(mergePolicy: policy)
    let read = try stored()
    #expect(read.first?.name == "a" && read.second?.name == "a" && read.twin?.name == "b")
    #expect(read.first?.firsts.count == 1 && read.second?.seconds.count == 1)
    #expect(read.twin?.hub === read)
    #expect(read.text == "theirs again")
    #expect(read.tags.map(\.name) == ["theirs", "theirs, too", "mine"])
    #expect(Set(read.parts.map(\.name)) == ["theirs", "mine"])
  }

  /// The nil of a delete rule gives way to the model that another context has put there.
  func stayReattached() throws {
    let mine = try hub(first)
    mine.first = try spoke("a", first)
    mine.second = try spoke("a", first)
    try first.save()
    first.delete(try spoke("a", first))
    let theirs = try hub(second)
    theirs.first = try spoke("b", second)
    try second.save()
    try first.save()
    let read = try stored()
    #expect(read.first?.name == "b" && read.second == nil)
  }

  /// A list keeps its order while a place in another one changes.
  func keepPlaces() throws {
    let owner = try spoke("a", first)
    let hubs = [try hub(first), Hub(), Hub()]
    for (place, hub) in hubs.enumerated() {
      hub.n62 = place
      hub.first = owner
      hub.second = owner
    }
    try first.save()
    let mine = try #require(try sortedHubs(first).first)
    _ = mine.second
    let theirs = try spoke("a", second)
    theirs.seconds = [theirs.seconds[1], theirs.seconds[2], theirs.seconds[0]]
    try second.save()
    mine.first = try spoke("b", first)
    try first.save()
    let read = try spoke("a", ModelContext(second.container))
    #expect(read.seconds.map(\.n62) == [1, 2, 0])
    #expect(read.firsts.map(\.n62) == [1, 2])
  }

  private func sortedHubs(_ context: ModelContext) throws -> [Hub] {
    try context.fetch(FetchDescriptor<Hub>(sortBy: [SortDescriptor(\.n62)]))
  }
}
