import Foundation
import SchedulePoints
import SwiftData
import Synchronization
import Testing

@testable import LogStore
@testable import ModelRuntime

@Suite struct `The lock of lists that are stored at both ends` {
  private let container: ModelContainer

  init() throws {
    let schema = Schema([Genre.self, Title.self])
    container = try ModelContainer(
      for: schema,
      configurations: ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
    )
  }

  /// Whether the lock could be taken by another thread, at each commit of this one while a block runs.
  private func freedom(during body: () throws -> Void) rethrows -> [Bool] {
    let lock = ListLocks.lock(of: container.coordinator.connections[0].identifier)
    let thread = UInt(bitPattern: Int(bitPattern: pthread_self()))
    let found = Mutex<[Bool]>([])
    let hook = ScheduleHook { point in
      guard point == .beforeCommit, thread == UInt(bitPattern: Int(bitPattern: pthread_self()))
      else { return }
      let isDone = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        let isFree = lock.try()
        if isFree { lock.unlock() }
        found.withLock { $0.append(isFree) }
        isDone.signal()
      }
      isDone.wait()
    }
    defer { hook.remove() }
    try body()
    return found.withLock { $0 }
  }

  @Test func `is held by a save that changes a list`() throws {
    let context = ModelContext(container)
    let (genre, title) = (Genre("noir"), Title(1))
    context.insert(genre)
    context.insert(title)
    #expect(try freedom { try context.save() } == [true])
    genre.titles.append(title)
    #expect(try freedom { try context.save() } == [false])
    title.number = 2
    #expect(try freedom { try context.save() } == [true])
  }

  @Test func `is taken by a save that meets its first list in an upsert`() throws {
    let first = ModelContext(container)
    let genre = Genre("noir")
    first.insert(genre)
    genre.titles = [Title(1)]
    try first.save()
    let second = ModelContext(container)
    let same = Genre("noir")
    second.insert(same)
    same.titles = [Title(2)]
    // The first attempt finds that the name is taken; the second one writes a list that others may write too.
    #expect(try freedom { try second.save() } == [true, false])
    let stored = try #require(try ModelContext(container).fetch(FetchDescriptor<Genre>()).first)
    #expect(stored.titles.map(\.number) == [1, 2])
    #expect(try container.storedListViolations() == [])
  }
}

@Model final class Genre {
  @Attribute(.unique) var name: String
  @Relationship(inverse: \Title.genres) var titles: [Title] = []
  init(_ name: String) { self.name = name }
}

@Model final class Title {
  var number: Int
  var genres: [Genre] = []
  init(_ number: Int) { self.number = number }
}
