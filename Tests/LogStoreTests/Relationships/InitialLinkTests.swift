import SwiftData
import Testing

@testable import LogStore

@Model private final class Wall {
  var key: Int
  @Relationship(inverse: \Scribble.wall) var scribbles: [Scribble] = []
  init(_ key: Int) { self.key = key }
}

/// A scribble whose initializer links it before all properties are set: the links are made when it is used.
@Model private final class Scribble {
  var wall: Wall?
  @Relationship(inverse: \Scribble.replies) var original: Scribble?
  var replies: [Scribble]
  var key: Int

  init(_ key: Int, on wall: Wall? = nil, replyingTo original: Scribble? = nil) {
    self.wall = wall
    self.original = original
    self.replies = []
    self.key = key
  }
}

/// A twig whose initializer takes others over before all properties are set.
@Model private final class Twig {
  var parent: Twig?
  @Relationship(inverse: \Twig.parent) var twigs: [Twig]
  var key: Int

  init(_ key: Int, twigs: [Twig] = []) {
    self.parent = nil
    self.twigs = twigs
    self.key = key
  }
}

@Suite struct `Members that their initializers have linked to an owner` {
  enum Way: CaseIterable {
    case append, appendContents, plusEquals, set, insertFirst
  }

  private let container: ModelContainer
  private let context: ModelContext
  private let wall = Wall(1)

  init() throws {
    container = try ModelContainer(
      for: Schema([Wall.self, Scribble.self, Twig.self]),
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
    context = ModelContext(container)
    context.insert(wall)
    wall.scribbles = [Scribble(0)]
    try context.save()
  }

  private func put(_ scribble: Scribble, _ way: Way) {
    switch way {
    case .append: wall.scribbles.append(scribble)
    case .appendContents: wall.scribbles.append(contentsOf: [scribble])
    case .plusEquals: wall.scribbles += [scribble]
    case .set: wall.scribbles = wall.scribbles + [scribble]
    case .insertFirst: wall.scribbles.insert(scribble, at: 0)
    }
  }

  private func check(_ expected: [Int], _ way: Way) throws {
    #expect(wall.scribbles.map(\.key) == expected, "\(way)")
    try context.save()
    #expect(wall.scribbles.map(\.key) == expected, "\(way)")
    let stored = try ModelContext(container).fetch(FetchDescriptor<Wall>())[0]
    #expect(stored.scribbles.map(\.key) == expected, "\(way)")
    #expect(stored.scribbles.allSatisfy { $0.wall === stored }, "\(way)")
    #expect(context.invariantViolations() == [])
  }

  @Test(arguments: Way.allCases) func `are in its list once, however they are put there`(way: Way)
    throws
  {
    put(Scribble(1, on: wall), way)
    try check(way == .insertFirst ? [1, 0] : [0, 1], way)
  }

  @Test(arguments: Way.allCases) func `stay in its list when one that leads to them is put there`(
    way: Way
  ) throws {
    let first = Scribble(1, on: wall)
    let second = Scribble(2, replyingTo: first)
    put(second, way)
    #expect(first.wall === wall && second.wall === wall, "\(way)")
    let keys = wall.scribbles.map(\.key)
    #expect(keys.sorted() == [0, 1, 2], "\(way)")
    if way == .insertFirst { #expect(keys[0] == 2) }
    try check(keys, way)
  }

  @Test(arguments: Way.allCases) func `of another owner leave it for the list they are put in`(
    way: Way
  ) throws {
    let other = Wall(2)
    context.insert(other)
    put(Scribble(1, on: other), way)
    #expect(other.scribbles.isEmpty, "\(way)")
    try check(way == .insertFirst ? [1, 0] : [0, 1], way)
  }

  @Test(arguments: Way.allCases) func `take members with them that they have taken over`(way: Way)
    throws
  {
    let trunk = Twig(0)
    context.insert(trunk)
    trunk.twigs = [Twig(1), Twig(2)]
    try context.save()
    let new = Twig(3, twigs: [trunk.twigs[0]])
    switch way {
    case .append: trunk.twigs.append(new)
    case .appendContents: trunk.twigs.append(contentsOf: [new])
    case .plusEquals: trunk.twigs += [new]
    case .set: trunk.twigs = trunk.twigs + [new]
    case .insertFirst: trunk.twigs.insert(new, at: 1)
    }
    let expected = way == .insertFirst ? [3, 2] : [2, 3]
    #expect(trunk.twigs.map(\.key) == expected, "\(way)")
    #expect(new.twigs.map(\.key) == [1], "\(way)")
    try context.save()
    let stored = try ModelContext(container).fetch(
      FetchDescriptor<Twig>(sortBy: [SortDescriptor(\.key)])
    )
    #expect(stored.map { $0.parent?.key } == [nil, 3, 0, 0], "\(way)")
    #expect(stored[0].twigs.map(\.key) == expected, "\(way)")
    #expect(context.invariantViolations() == [])
  }
}
