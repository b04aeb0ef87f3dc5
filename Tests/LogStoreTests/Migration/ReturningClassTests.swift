import Foundation
import LogStore
import SwiftData
import Testing

// A subclass goes, and comes back: what the program without it saved about the other ends stays.

private enum With: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Guest.self, Regular.self, Inn.self] }

  @Model class Guest {
    var number: Int
    @Relationship(inverse: \Inn.favourite) var favouriteOf: Inn?
    @Relationship(inverse: \Inn.members) var clubs: [Inn] = []
    init(_ number: Int) { self.number = number }
  }
  @Model final class Regular: Guest {
    override init(_ number: Int) { super.init(number) }
  }
  @Model final class Inn {
    var number: Int = 0
    var favourite: Guest?
    var members: [Guest] = []
    var known: [Guest] = []
    init() {}
  }
}

private enum Without: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Guest.self, Inn.self] }

  @Model class Guest {
    var number: Int
    @Relationship(inverse: \Inn.favourite) var favouriteOf: Inn?
    @Relationship(inverse: \Inn.members) var clubs: [Inn] = []
    init(_ number: Int) { self.number = number }
  }
  @Model final class Inn {
    var number: Int = 0
    var favourite: Guest?
    var members: [Guest] = []
    var known: [Guest] = []
    init() {}
  }
}

/// Models without the other ends.
private enum OneSided: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Guest.self, Inn.self] }

  @Model class Guest {
    var number: Int
    init(_ number: Int) { self.number = number }
  }
  @Model final class Inn {
    var number: Int = 0
    var favourite: Guest?
    var members: [Guest] = []
    var known: [Guest] = []
    init() {}
  }
}

private enum Again: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Guest.self, Regular.self, Inn.self] }

  @Model class Guest {
    var number: Int
    @Relationship(inverse: \Inn.favourite) var favouriteOf: Inn?
    @Relationship(inverse: \Inn.members) var clubs: [Inn] = []
    init(_ number: Int) { self.number = number }
  }
  @Model final class Regular: Guest {
    override init(_ number: Int) { super.init(number) }
  }
  @Model final class Inn {
    var number: Int = 0
    var favourite: Guest?
    var members: [Guest] = []
    var known: [Guest] = []
    init() {}
  }
}

@Suite struct `A class that goes and comes back` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(
    _ version: any VersionedSchema.Type,
    isNumbered: Bool = true
  ) throws -> ModelContainer {
    try ModelContainer(
      for: isNumbered ? Schema(versionedSchema: version) : Schema(version.models),
      configurations: LogStoreConfiguration(
        url: folder.url.appending(path: "inn.store"),
        durability: .relaxed
      )
    )
  }

  /// The regular guest is 10, the others are 20 and 30.
  private func make(isNumbered: Bool = true) throws {
    let context = ModelContext(try open(With.self, isNumbered: isNumbered))
    let guests = [With.Regular(10), With.Guest(20), With.Guest(30)]
    for guest in guests { context.insert(guest) }
    let inn = With.Inn()
    context.insert(inn)
    inn.favourite = guests[0]
    inn.members = [guests[0], guests[1]]
    inn.known = [guests[0], guests[1]]
    try context.save()
  }

  private func check(
    favourite: Int?,
    members: Set<Int> = [10, 20],
    known: [Int] = [10, 20],
    isNumbered: Bool = true
  ) throws {
    for _ in 0..<2 {
      let container = try open(Again.self, isNumbered: isNumbered)
      #expect(try container.storeInvariantViolations() == [])
      let context = ModelContext(container)
      let inn = try #require(try context.fetch(FetchDescriptor<Again.Inn>()).first)
      #expect(inn.favourite?.number == favourite)
      #expect(Set(inn.members.map(\.number)) == members)
      #expect(inn.known.map(\.number) == known)
      for guest in try context.fetch(FetchDescriptor<Again.Guest>()) {
        #expect((guest.favouriteOf === inn) == (guest.number == favourite), "\(guest.number)")
        #expect(guest.clubs.contains(inn) == members.contains(guest.number), "\(guest.number)")
      }
    }
  }

  enum Edit: CaseIterable {
    case none, touch, replace, replaceFromOtherEnd, clear, replaceThenClear, clearInBatch
  }

  @Test(arguments: Edit.allCases, [true, false])
  func `leaves a one-to-one as the program without it saved it`(
    edit: Edit,
    isNumbered: Bool
  ) throws {
    try make(isNumbered: isNumbered)
    do {
      let context = ModelContext(try open(Without.self, isNumbered: isNumbered))
      let inn = try #require(try context.fetch(FetchDescriptor<Without.Inn>()).first)
      let guests = try context.fetch(FetchDescriptor<Without.Guest>(sortBy: [.init(\.number)]))
      #expect(inn.favourite == nil)
      switch edit {
      case .none: break
      case .touch: inn.number += 1
      case .replace: inn.favourite = guests[0]
      case .replaceFromOtherEnd: guests[0].favouriteOf = inn
      case .clear: inn.favourite = nil
      case .replaceThenClear:
        inn.favourite = guests[0]
        try context.save()
        inn.favourite = nil
      case .clearInBatch: _ = try context.batchUpdate(Without.Inn.self, .set(\.favourite, to: nil))
      }
      try context.save()
    }
    let favourite: Int? =
      switch edit {
      case .none, .touch: 10
      case .replace, .replaceFromOtherEnd: 20
      case .clear, .replaceThenClear, .clearInBatch: nil
      }
    try check(favourite: favourite, isNumbered: isNumbered)
  }

  @Test func `keeps its models in lists that the program without it changed`() throws {
    try make()
    do {
      let context = ModelContext(try open(Without.self))
      let inn = try #require(try context.fetch(FetchDescriptor<Without.Inn>()).first)
      let guests = try context.fetch(FetchDescriptor<Without.Guest>(sortBy: [.init(\.number)]))
      inn.known.append(guests[1])
      inn.members.append(guests[1])
      try context.save()
      #expect(inn.known.map(\.number) == [20, 30])
      inn.members.removeAll { $0.number == 20 }
      try context.save()
      #expect(try context.container.storeInvariantViolations() == [])
    }
    try check(favourite: 10, members: [10, 30], known: [10, 20, 30])
    do {
      let context = ModelContext(try open(Again.self))
      let inn = try #require(try context.fetch(FetchDescriptor<Again.Inn>()).first)
      inn.known.removeAll { $0.number == 10 }
      try context.save()
    }
    try check(favourite: 10, members: [10, 30], known: [20, 30])
  }

  @Test func `is still in a list that the program without it emptied`() throws {
    try make()
    do {
      let context = ModelContext(try open(Without.self))
      let inn = try #require(try context.fetch(FetchDescriptor<Without.Inn>()).first)
      inn.known = []
      inn.members = []
      try context.save()
    }
    try check(favourite: 10, members: [10], known: [10])
  }

  @Test(arguments: [true, false])
  func `takes over what a program without the other ends saved`(clears: Bool) throws {
    try make()
    do {
      let context = ModelContext(try open(OneSided.self))
      let inn = try #require(try context.fetch(FetchDescriptor<OneSided.Inn>()).first)
      let guests = try context.fetch(FetchDescriptor<OneSided.Guest>(sortBy: [.init(\.number)]))
      inn.favourite = clears ? nil : guests[1]
      inn.members = [guests[1]]
      try context.save()
    }
    try check(favourite: clears ? nil : 30, members: [10, 30])
  }
}
