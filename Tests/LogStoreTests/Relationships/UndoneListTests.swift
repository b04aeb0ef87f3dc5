import Foundation
import SwiftData
import Testing

@testable import LogStore

@Model private final class Patrol {
  @Relationship(inverse: \Scout.patrol) var scouts: [Scout] = []
  @Relationship(inverse: \Scout.patrols) var guests: [Scout] = []
  var strangers: [Scout] = []

  init() {}
}

@Model private final class Scout {
  var number: Int
  var patrol: Patrol?
  var patrols: [Patrol] = []

  init(_ number: Int) { self.number = number }
}

/// A store of a patrol with the scouts 2, 3 and 4 in each of its lists; 0 and 1 are in none.
@Suite struct `Undoing and redoing the saved change of a list that others have changed` {
  private let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: Patrol.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let patrol = Patrol()
    context.insert(patrol)
    let scouts = (0..<5).map { Scout($0) }
    for scout in scouts { context.insert(scout) }
    patrol.scouts = Array(scouts[2...])
    patrol.guests = Array(scouts[2...])
    patrol.strangers = Array(scouts[2...])
    try context.save()
  }

  private enum Kind: CaseIterable {
    case oneToMany, manyToMany, withoutInverse

    var list: ReferenceWritableKeyPath<Patrol, [Scout]> {
      switch self {
      case .oneToMany: \.scouts
      case .manyToMany: \.guests
      case .withoutInverse: \.strangers
      }
    }
  }

  private enum Change: CaseIterable {
    case append, remove, removeWhere, exchange, insert, set, clear

    func apply(to list: inout [Scout], _ scouts: [Scout]) {
      switch self {
      case .append: list.append(scouts[0])
      case .remove: list.remove(at: 0)
      case .removeWhere: list.removeAll { $0 === scouts[3] }
      case .exchange: list.swapAt(0, 1)
      case .insert: list.insert(scouts[0], at: 0)
      case .set: list = [scouts[0], scouts[3]]
      case .clear: list = []
      }
    }
  }

  private func read(_ context: ModelContext) throws -> (patrol: Patrol, scouts: [Scout]) {
    let patrols = try context.fetch(FetchDescriptor<Patrol>())
    let scouts = try context.fetch(FetchDescriptor<Scout>(sortBy: [SortDescriptor(\.number)]))
    return (try #require(patrols.first), scouts)
  }

  /// What another context does meanwhile: it appends the scout 1, or deletes the scout 4.
  enum Theirs: CaseIterable { case append, delete }

  /// Changes a list, saves, undoes and perhaps redoes it beside another context.
  private func run(
    _ kind: Kind,
    _ change: Change,
    _ theirs: Theirs,
    isLate: Bool,
    redoes: Bool
  ) throws {
    let (context, other) = (ModelContext(container), ModelContext(container))
    context.undoManager = UndoManager()
    let (patrol, scouts) = try read(context)
    let before = patrol[keyPath: kind.list].map(\.number)
    func changeElsewhere() throws {
      let (patrol, scouts) = try read(other)
      switch theirs {
      case .append: patrol[keyPath: kind.list].append(scouts[1])
      case .delete: other.delete(scouts[4])
      }
      try other.save()
    }
    change.apply(to: &patrol[keyPath: kind.list], scouts)
    context.processPendingChanges()
    let after = patrol[keyPath: kind.list].map(\.number)
    if !isLate { try changeElsewhere() }
    try context.save()
    if isLate { try changeElsewhere() }
    context.undoManager?.undo()
    try context.save()
    if redoes {
      context.undoManager?.redo()
      try context.save()
    }
    let label = "\(kind) \(change), they \(theirs), late \(isLate), redone \(redoes)"
    let stored = try read(ModelContext(container)).patrol
    let numbers = stored[keyPath: kind.list].map(\.number)
    let own = Set(redoes ? after : before)
    #expect(Set(numbers) == (theirs == .append ? own.union([1]) : own.subtracting([4])), "\(label)")
    #expect(Set(numbers).count == numbers.count, "\(label)")
    _ = try read(context)
    #expect(patrol[keyPath: kind.list].map(\.number) == numbers, "\(label)")
    let ends = try read(ModelContext(container))
    let related = ends.scouts.filter { scout in
      switch kind {
      case .oneToMany: scout.patrol === ends.patrol
      case .manyToMany: scout.patrols.contains { $0 === ends.patrol }
      case .withoutInverse: numbers.contains(scout.number)
      }
    }
    #expect(related.map(\.number) == numbers.sorted(), "\(label)")
    #expect(context.invariantViolations() == [], "\(label)")
  }

  @Test(arguments: Theirs.allCases, [false, true])
  func `leaves what they have appended in it, and what they have deleted out of it`(
    theirs: Theirs,
    isLate: Bool
  ) throws {
    for kind in Kind.allCases {
      for change in Change.allCases {
        for redoes in [false, true] {
          try `Undoing and redoing the saved change of a list that others have changed`()
            .run(kind, change, theirs, isLate: isLate, redoes: redoes)
        }
      }
    }
  }

  @Test(arguments: [false, true])
  func `ends a link at both ends that they had ended before`(isCleared: Bool) throws {
    let (context, other) = (ModelContext(container), ModelContext(container))
    context.undoManager = UndoManager()
    let (patrol, scouts) = try read(context)
    #expect(patrol.guests.count == 3)
    let theirs = try read(other)
    if isCleared { theirs.scouts[3].patrols = [] } else { theirs.patrol.guests.remove(at: 1) }
    try other.save()
    scouts[3].patrols.append(patrol)
    try context.save()
    context.undoManager?.undo()
    try context.save()
    let stored = try read(ModelContext(container))
    #expect(stored.patrol.guests.map(\.number) == [2, 4])
    #expect(stored.scouts[3].patrols.isEmpty)
    #expect(patrol.guests.map(\.number) == [2, 4])
  }
}
