// swift-format-ignore-file: NeverForceUnwrap
// The forced unwraps below are part of what is tested.

import Foundation
import Testing

@testable import ModelRuntime

/// A predicate to try, with a name for the report.
struct Question<T: PersistentModel>: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let predicate: Predicate<T>

  init(_ name: String, _ predicate: Predicate<T>) {
    testDescription = name
    self.predicate = predicate
  }
}

/// Checks that rows answer as Foundation does of objects, and objects as their rows, by the translated expression and
/// node by node.
///
/// Where the evaluation of the object throws (nil unwrapped by force) the row does not match.
func expectAgreement<T: PersistentModel>(
  _ predicate: Predicate<T>,
  in world: RandomItems,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let expression = try QueryExpression(predicate)
  let found = try world.fixture.matches(expression, of: T.self)
  let objects = world.fixture.models.compactMap { $0 as? T }
  let expected = objects.filter { (try? predicate.evaluate($0)) ?? false }
  for filter in [ObjectFilter(predicate), ObjectFilter(predicate, nil)] {
    #expect(
      try objects.filter(filter.matches).map { ObjectIdentifier($0) }
        == expected.map { ObjectIdentifier($0) },
      "\(expression)",
      sourceLocation: sourceLocation
    )
  }
  #expect(
    found.map { ObjectIdentifier($0) } == expected.map { ObjectIdentifier($0) },
    "\(expression)",
    sourceLocation: sourceLocation
  )
}

@Suite struct `A predicate over rows` {
  @Test(arguments: Questions.numbers + Questions.values + Questions.optionals)
  func `says of attributes what it says of objects`(_ question: Question<Item>) throws {
    for seed in 1...3 {
      try expectAgreement(question.predicate, in: RandomItems(seed: UInt64(seed)))
    }
  }

  @Test(arguments: Questions.texts)
  func `says of text what it says of objects`(_ question: Question<Item>) throws {
    for seed in 1...5 {
      try expectAgreement(question.predicate, in: RandomItems(seed: UInt64(seed)))
    }
  }

  @Test(arguments: Questions.paths)
  func `follows references as objects do`(_ question: Question<Item>) throws {
    for seed in 1...3 {
      try expectAgreement(question.predicate, in: RandomItems(seed: UInt64(seed)))
    }
  }

  @Test(arguments: Questions.lists)
  func `looks at members of lists as objects do`(_ question: Question<Folder>) throws {
    for seed in 1...3 {
      try expectAgreement(question.predicate, in: RandomItems(seed: UInt64(seed)))
    }
  }

  @Test func `knows the attributes that a class inherits`() throws {
    let world = try RandomItems(seed: 2)
    for predicate: Predicate<Errand> in [
      #Predicate { $0.number > 2 && $0.place > "b" },
      #Predicate { $0.folder?.name == "a" || $0.title == $0.place },
    ] {
      try expectAgreement(predicate, in: world)
    }
  }

  @Test func `finds rows by their identifiers`() throws {
    let world = try RandomItems(seed: 1)
    let one = world.items[3].persistentModelID
    let ids = world.items[5..<9].map(\.persistentModelID)
    let set = Set(ids)
    let folder = world.folders[1].persistentModelID
    let folders = [folder, world.folders[0].persistentModelID]
    let foreign = Item(number: 1).persistentModelID
    for predicate: Predicate<Item> in [
      #Predicate { $0.persistentModelID == one },
      #Predicate { $0.id == one },
      #Predicate { one != $0.id },
      #Predicate { ids.contains($0.persistentModelID) },
      #Predicate { set.contains($0.id) },
      #Predicate { !set.contains($0.id) },
      #Predicate { $0.folder?.persistentModelID == folder },
      #Predicate { ($0.folder?.id ?? one) != folder },
      #Predicate { $0.folder.flatMap { folders.contains($0.persistentModelID) } ?? false },
      #Predicate { $0.id == foreign },
      #Predicate { $0.folder!.persistentModelID == folder },
    ] {
      try expectAgreement(predicate, in: world)
    }
  }
}
