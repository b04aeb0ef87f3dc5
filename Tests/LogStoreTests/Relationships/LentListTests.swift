import Foundation
import LogStore
import SwiftData
import Testing

@Model private final class Hangar {
  var name: String
  @Relationship(inverse: \Glider.hangar) var gliders: [Glider] = []

  init(_ name: String) { self.name = name }
}

@Model private final class Glider {
  var number: Int
  var hangar: Hangar?

  init(_ number: Int, in hangar: Hangar? = nil) {
    self.number = number
    self.hangar = hangar
  }
}

@Suite struct `A list that is changed in place while others save` {
  /// What the change does besides, so that the context learns of the save.
  enum Notice: CaseIterable { case none, fetch, list }

  private let container: ModelContainer
  private let context: ModelContext

  init() throws {
    container = try ModelContainer(
      for: Hangar.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    let (north, south) = (Hangar("north"), Hangar("south"))
    context.insert(north)
    context.insert(south)
    for number in 0..<4 { context.insert(Glider(number, in: north)) }
    for number in 4..<8 { context.insert(Glider(number, in: south)) }
    try context.save()
  }

  private func hangar(_ name: String, _ context: ModelContext) throws -> Hangar {
    let named = FetchDescriptor<Hangar>(predicate: #Predicate { $0.name == name })
    return try #require(try context.fetch(named).first)
  }

  private func numbers(_ name: String) throws -> [Int] {
    try hangar(name, ModelContext(container)).gliders.map(\.number)
  }

  /// Exchanges a glider of either hangar in another context.
  private func exchange() throws {
    let other = ModelContext(container)
    let (north, south) = try (hangar("north", other), hangar("south", other))
    let leaving = try #require(north.gliders.first { $0.number == 2 })
    let coming = try #require(south.gliders.first { $0.number == 5 })
    leaving.hangar = south
    coming.hangar = north
    try other.save()
  }

  @Test(arguments: Notice.allCases, [false, true])
  func `takes out and takes in only what the change names`(
    notice: Notice,
    isUndoable: Bool
  ) throws {
    if isUndoable { context.undoManager = UndoManager() }
    let north = try hangar("north", context)
    let south = try hangar("south", context)
    try #require(north.gliders.count == 4)
    try #require(south.gliders.count == 4)
    var isFirst = true
    var failure: (any Error)?
    north.gliders.removeAll { glider in
      if isFirst {
        isFirst = false
        do {
          try exchange()
          switch notice {
          case .none: break
          case .fetch: _ = try context.fetch(FetchDescriptor<Glider>())
          case .list: _ = south.gliders.count
          }
        } catch {
          failure = error
        }
      }
      return glider.number == 0
    }
    if let failure { throw failure }
    #expect(Set(north.gliders.map(\.number)).isSubset(of: [1, 2, 3, 5]))
    try context.save()
    #expect(try Set(numbers("north")) == [1, 3, 5])
    #expect(try Set(numbers("south")) == [2, 4, 6, 7])
    _ = try context.fetch(FetchDescriptor<Hangar>())
    #expect(try north.gliders.map(\.number) == numbers("north"))
    #expect(try south.gliders.map(\.number) == numbers("south"))
  }

  @Test(arguments: Notice.allCases)
  func `keeps what others bring when it is put into another order`(notice: Notice) throws {
    let north = try hangar("north", context)
    try #require(north.gliders.map(\.number) == [0, 1, 2, 3])
    var isFirst = true
    var failure: (any Error)?
    north.gliders.sort { one, two in
      if isFirst {
        isFirst = false
        do {
          try exchange()
          switch notice {
          case .none: break
          case .fetch: _ = try context.fetch(FetchDescriptor<Glider>())
          case .list: _ = try hangar("south", context).gliders.count
          }
        } catch {
          failure = error
        }
      }
      return one.number > two.number
    }
    if let failure { throw failure }
    try context.save()
    #expect(try Set(numbers("north")).isSuperset(of: [0, 1, 3, 5]))
    #expect(try numbers("north").filter { $0 != 2 && $0 != 5 } == [3, 1, 0])
    #expect(try Set(numbers("north") + numbers("south")) == Set(0..<8))
  }
}
