import SwiftData
import Testing

/// Leads to tracks, which do not lead back.
@Model final class Mixtape {
  var name: String
  var tracks: [Melody] = []
  var cover: Melody?

  init(_ name: String) { self.name = name }
}

@Model class Melody {
  var number: Int

  init(_ number: Int) { self.number = number }
}

@Model final class Solo: Melody {
  var price: Int = 0

  override init(_ number: Int) { super.init(number) }
}

@Suite struct `A predicate about models that are gone` {
  private let container: ModelContainer
  private let gone: PersistentIdentifier

  init() throws {
    container = try ModelContainer(
      for: Mixtape.self,
      Melody.self,
      Solo.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let mixtape = Mixtape("tape")
    let (first, second) = (Solo(1), Melody(2))
    context.insert(mixtape)
    mixtape.tracks = [first, second]
    mixtape.cover = first
    try context.save()
    gone = first.persistentModelID
    context.delete(first)
    context.delete(second)
    try context.save()
  }

  /// Whether the owner matches; as an object, if the context has a change of it that the predicate may read.
  private func matches(_ predicate: Predicate<Mixtape>, isChanged: Bool) throws -> Bool {
    let context = ModelContext(container)
    let mixtape = try #require(try context.fetch(FetchDescriptor<Mixtape>()).first)
    #expect(mixtape.cover == nil && mixtape.tracks.isEmpty)
    if isChanged { mixtape.name = "changed" }
    let descriptor = FetchDescriptor(predicate: predicate)
    let count = try context.fetchCount(descriptor)
    #expect(try context.fetch(descriptor).count == count)
    return count == 1
  }

  @Test(arguments: [false, true])
  func `reads a reference to one as nil`(isChanged: Bool) throws {
    let gone = gone
    let predicates: [(Predicate<Mixtape>, Bool)] = [
      (#Predicate { $0.cover == nil }, true),
      (#Predicate { $0.cover != nil }, false),
      (#Predicate { !($0.cover == nil) || $0.name == "" }, false),
      (#Predicate { $0.cover is Solo }, false),
      (#Predicate { $0.cover?.persistentModelID == gone }, false),
      (#Predicate { $0.cover?.persistentModelID != gone }, true),
      (#Predicate { $0.cover?.persistentModelID == nil }, true),
      (#Predicate { ($0.cover?.number ?? 7) == 7 }, true),
    ]
    for (number, (predicate, isMatching)) in predicates.enumerated() {
      #expect(try matches(predicate, isChanged: isChanged) == isMatching, "\(number)")
    }
  }

  @Test(arguments: [false, true])
  func `leaves one out of a list`(isChanged: Bool) throws {
    let predicates: [(Predicate<Mixtape>, Bool)] = [
      (#Predicate { $0.tracks.isEmpty }, true),
      (#Predicate { !$0.tracks.isEmpty }, false),
      (#Predicate { $0.tracks.count == 0 }, true),
      (#Predicate { $0.tracks.count > 0 }, false),
      (#Predicate { $0.tracks.contains { $0.number > 0 } }, false),
      (#Predicate { $0.tracks.filter { $0.number > 0 }.count == 0 }, true),
    ]
    for (number, (predicate, isMatching)) in predicates.enumerated() {
      #expect(try matches(predicate, isChanged: isChanged) == isMatching, "\(number)")
    }
  }

  @Test func `sorts what referred to one with what refers to nothing`() throws {
    let context = ModelContext(container)
    let kept = Mixtape("kept")
    context.insert(kept)
    kept.cover = Melody(3)
    try context.save()
    let sorted = try ModelContext(container).fetch(
      FetchDescriptor<Mixtape>(sortBy: [SortDescriptor(\.cover?.persistentModelID)])
    )
    #expect(sorted.map(\.name) == ["tape", "kept"])
  }
}
