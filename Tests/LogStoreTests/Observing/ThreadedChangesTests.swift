import Foundation
import SwiftData
import Testing

@Suite(.timeLimit(.minutes(30))) struct `Changes of results that threads save` {
  @Test(arguments: [nil, 1, 20] as [Int?], [0, 7])
  func `lead to what a fetch finds when all is over`(limit: Int?, offset: Int) async throws {
    let container = try makeShelves()
    let follower = ReplicaKeeper(modelContainer: container)
    async let replica = follower.follow(limit: limit, offset: offset)
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<3 {
        group.addTask {
          await withCheckedContinuation { done in
            Thread.detachNewThread {
              ReplicaKeeper.write(to: container, seed: UInt64(writer))
              done.resume()
            }
          }
        }
      }
    }
    // Last of all, and first in the order, with as many before it as are skipped.
    let context = ModelContext(container)
    for number in 0...offset { context.insert(Volume("\(number)", pages: -1000 + number)) }
    try context.save()
    #expect(try await replica == follower.fetch(limit: limit, offset: offset))
  }
}

@ModelActor private actor ReplicaKeeper {
  private static let lastPages = -1000

  private func descriptor(_ limit: Int?, _ offset: Int) -> FetchDescriptor<Volume> {
    var descriptor = FetchDescriptor<Volume>(
      predicate: #Predicate { $0.pages < 500 },
      sortBy: [SortDescriptor(\.pages), SortDescriptor(\.title)]
    )
    descriptor.fetchLimit = limit
    if offset > 0 { descriptor.fetchOffset = offset }
    return descriptor
  }

  /// Keeps a list by changes alone, until the last model is in it.
  func follow(limit: Int?, offset: Int) async throws -> [PersistentIdentifier] {
    let observer = try ResultsObserver(
      fetchDescriptor: descriptor(limit, offset),
      modelContext: modelContext
    )
    var models: [Volume] = []
    for await change in observer.changes {
      models = try #require(models.applying(change.difference))
      #expect(models.elementsEqual(change.results, by: ===))
      #expect(change.fetchError == nil)
      for (place, model) in change.updated { #expect(models[place] === model) }
      if models.first?.pages == Self.lastPages + offset { break }
    }
    return models.map(\.persistentModelID)
  }

  func fetch(limit: Int?, offset: Int) throws -> [PersistentIdentifier] {
    try ModelContext(modelContainer).fetchIdentifiers(descriptor(limit, offset))
  }

  static func write(to container: ModelContainer, seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let context = ModelContext(container)
    var own: [Volume] = []
    for round in 0..<150 {
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0 where own.count > 10:
          context.delete(own.remove(at: Int.random(in: 0..<own.count, using: &random)))
        case 1 where !own.isEmpty:
          own[Int.random(in: 0..<own.count, using: &random)].pages =
            .random(in: 0..<700, using: &random)
        case 2 where !own.isEmpty:
          own[Int.random(in: 0..<own.count, using: &random)].title = "\(seed) \(round)"
        default:
          let volume = Volume(
            "\(seed) \(round) \(own.count)",
            pages: .random(in: 0..<700, using: &random)
          )
          context.insert(volume)
          own.append(volume)
        }
      }
      do { try context.save() } catch { Issue.record(error, "seed \(seed), round \(round)") }
    }
  }
}
