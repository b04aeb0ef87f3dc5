import Foundation
import ModelRuntime
import SwiftData
import Testing

@testable import LogStore

@Model private class Ensemble {
  #Index<Ensemble>([\.fame])
  var name: String
  var fame: Int
  @Relationship(inverse: \Musician.band) var players: [Musician] = []
  var styles: [TuneStyle] = []

  init(name: String, fame: Int) {
    self.name = name
    self.fame = fame
  }
}

@available(macOS 26, iOS 26, *)
@Model private final class GreatEnsemble: Ensemble {
  var hall: String

  init(name: String, fame: Int, hall: String) {
    self.hall = hall
    super.init(name: name, fame: fame)
  }
}

@Model private class Musician {
  #Index<Musician>([\.code])
  var code: Int
  var age: Int
  var instrument: String?
  var band: Ensemble?

  init(_ number: Int) {
    code = number
    age = number * 7 % 60
    instrument = number % 5 == 0 ? nil : ["drums", "bass", "harp"][number % 3]
  }
}

@available(macOS 26, iOS 26, *)
@Model private final class PaidMusician: Musician {
  var fee: Int

  init(_ number: Int, fee: Int) {
    self.fee = fee
    super.init(number)
  }
}

@Model private final class TuneStyle {
  var name: String
  @Relationship(inverse: \Ensemble.styles) var bands: [Ensemble] = []

  init(name: String) { self.name = name }
}

/// Bands with no players, few and many, and players in no band, in a store of its own.
private final class MusicScene {
  let container: ModelContainer
  let url: URL
  var context: ModelContext { ModelContext(container) }

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "scene-\(UUID())")
    container = try ModelContainer(
      for: Ensemble.self,
      GreatEnsemble.self,
      Musician.self,
      PaidMusician.self,
      TuneStyle.self,
      configurations: LogStoreConfiguration(url: url, durability: .relaxed)
    )
    let context = ModelContext(container)
    let styles = (0..<6).map { TuneStyle(name: "style \($0)") }
    for style in styles { context.insert(style) }
    let bands = (0..<400).map { number -> Ensemble in
      number % 9 == 0
        ? GreatEnsemble(name: "band \(number)", fame: number % 23, hall: "hall")
        : Ensemble(name: "band \(number)", fame: number % 23)
    }
    for (number, band) in bands.enumerated() {
      context.insert(band)
      if number % 4 != 0 { band.styles = [styles[number % 6], styles[number * 5 % 6]] }
    }
    for number in 0..<3000 {
      let player = number % 13 == 0 ? PaidMusician(number, fee: number % 100) : Musician(number)
      context.insert(player)
      if number % 10 != 0 { player.band = bands[number * 31 % 300] }
    }
    try context.save()
    context.delete(bands[7])
    context.delete(styles[5])
    for player in try context.fetch(FetchDescriptor<Musician>()) where player.code % 97 == 0 {
      context.delete(player)
    }
    try context.save()
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}

@Suite struct `A question about the members of a list` {
  /// What is asked, and the same of objects.
  private static let questions:
    [(words: String, Predicate<Ensemble>, @Sendable (Ensemble) -> Bool)] = [
      (
        "one indexed value", #Predicate { $0.players.contains { $0.code == 1234 } },
        { $0.players.contains { $0.code == 1234 } }
      ),
      (
        "a range of an index", #Predicate { $0.players.contains { $0.code > 2900 } },
        { $0.players.contains { $0.code > 2900 } }
      ),
      (
        "what most pass", #Predicate { $0.players.contains { $0.age > 3 } },
        { $0.players.contains { $0.age > 3 } }
      ),
      (
        "what few pass", #Predicate { $0.players.contains { $0.age == 59 && $0.code < 900 } },
        { $0.players.contains { $0.age == 59 && $0.code < 900 } }
      ),
      (
        "what none passes", #Predicate { $0.players.contains { $0.age > 100 } }, { _ in false }
      ),
      (
        "an optional",
        #Predicate { $0.players.contains { $0.instrument == nil && $0.code > 2000 } },
        { $0.players.contains { $0.instrument == nil && $0.code > 2000 } }
      ),
      (
        "a computation that fails for some",
        #Predicate { $0.players.contains { 1000 / ($0.age - 7) > 300 } },
        { band in
          // Members are looked at in their order until one passes; where one fails first, the row does not match.
          for player in band.players {
            if player.age == 7 { return false }
            if 1000 / (player.age - 7) > 300 { return true }
          }
          return false
        }
      ),
      (
        "a filtered list",
        #Predicate { $0.players.filter { $0.age > 50 }.contains { $0.code < 90 } },
        { $0.players.contains { $0.age > 50 && $0.code < 90 } }
      ),
      (
        "either of two",
        #Predicate {
          $0.players.contains { $0.code == 11 } || $0.players.contains { $0.code == 12 }
        },
        { $0.players.contains { $0.code == 11 || $0.code == 12 } }
      ),
      (
        "both of two",
        #Predicate {
          $0.players.contains { $0.code < 400 } && $0.players.contains { $0.code > 2700 }
        },
        { $0.players.contains { $0.code < 400 } && $0.players.contains { $0.code > 2700 } }
      ),
      (
        "none of them", #Predicate { !$0.players.contains { $0.age > 10 } },
        { !$0.players.contains { $0.age > 10 } }
      ),
      (
        "an attribute of the band besides",
        #Predicate { $0.fame == 3 && $0.players.contains { $0.age > 40 } },
        { $0.fame == 3 && $0.players.contains { $0.age > 40 } }
      ),
      (
        "one about the band itself",
        #Predicate { band in band.players.contains { $0.age == band.fame } },
        { band in band.players.contains { $0.age == band.fame } }
      ),
      (
        "a list of many to many", #Predicate { $0.styles.contains { $0.name == "style 2" } },
        { $0.styles.contains { $0.name == "style 2" } }
      ),
      (
        "a deleted member", #Predicate { $0.styles.contains { $0.name == "style 5" } },
        { _ in false }
      ),
      (
        "a list within the list",
        #Predicate { $0.styles.contains { $0.bands.contains { $0.name == "band 14" } } },
        { $0.styles.contains { $0.bands.contains { $0.name == "band 14" } } }
      ),
      (
        "the band of a member", #Predicate { $0.players.contains { $0.band?.fame == 5 } },
        { $0.players.contains { $0.band?.fame == 5 } }
      ),
    ]

  @Test(arguments: questions.indices)
  func `finds what looking at each object finds`(number: Int) throws {
    let (words, predicate, isWanted) = Self.questions[number]
    let scene = try MusicScene()
    let all = try scene.context.fetch(FetchDescriptor<Ensemble>())
    let wanted = all.filter(isWanted)
    let names = wanted.map(\.name).sorted()
    let context = scene.context
    var descriptor = FetchDescriptor(predicate: predicate)
    #expect(try context.fetchCount(descriptor) == names.count, "\(words)")
    #expect(try context.fetchIdentifiers(descriptor).count == names.count, "\(words)")
    #expect(try context.fetch(descriptor).map(\.name).sorted() == names, "\(words)")
    for limit in [1, 7, 50] {
      descriptor.fetchLimit = limit
      descriptor.sortBy = []
      let first = try context.fetch(descriptor).map(\.name)
      #expect(first == Array(wanted.map(\.name).prefix(limit)), "the first \(limit): \(words)")
      descriptor.sortBy = [SortDescriptor(\.fame, order: .reverse), SortDescriptor(\.name)]
      let sorted = wanted.sorted { ($1.fame, $0.name) < ($0.fame, $1.name) }.map(\.name)
      #expect(
        try context.fetch(descriptor).map(\.name) == Array(sorted.prefix(limit)),
        "the first \(limit) by fame: \(words)"
      )
    }
  }

  @Test func `of a subclass finds what looking at each object finds`() throws {
    let scene = try MusicScene()
    let all = try scene.context.fetch(FetchDescriptor<GreatEnsemble>())
    let wanted = all.filter { $0.players.contains { $0.age > 55 } }.map(\.name)
    let found = try scene.context.fetch(
      FetchDescriptor<GreatEnsemble>(predicate: #Predicate { $0.players.contains { $0.age > 55 } })
    )
    #expect(found.map(\.name) == wanted)
    #expect(!wanted.isEmpty && wanted.count < all.count)
  }

  @Test func `sees members that were changed and are not saved`() throws {
    let scene = try MusicScene()
    let context = scene.context
    let wanted = FetchDescriptor<Ensemble>(
      predicate: #Predicate { $0.players.contains { $0.code == 1234 || $0.age == 99 } }
    )
    #expect(try context.fetchCount(wanted) == 1)
    let band = try #require(context.fetch(wanted).first)
    let player = try #require(band.players.first { $0.code == 1234 })
    player.code = 5000
    let other = try #require(
      context.fetch(FetchDescriptor<Ensemble>(predicate: #Predicate { $0.name == "band 399" }))
        .first
    )
    player.age = 99
    player.band = other
    #expect(try context.fetch(wanted).map(\.name) == ["band 399"])
    let new = Musician(9999)
    new.age = 99
    band.players.append(new)
    #expect(Set(try context.fetch(wanted).map(\.name)) == ["band 399", band.name])
    try context.save()
    #expect(try scene.context.fetchCount(wanted) == 2)
  }

  @Test func `reads the members that an index names, and no list`() throws {
    let context = try MusicScene().context
    let plan = try context.explain(
      FetchDescriptor<Ensemble>(predicate: #Predicate { $0.players.contains { $0.code == 1234 } })
    )
    let paths = plan.accesses.map(\.path)
    #expect(paths.contains(.members("players")))
    #expect(plan.accesses.reduce(0) { $0 + $1.readRowCount } <= 4, "\(plan)")
  }

  @Test func `reads the first lists where the first rows match`() throws {
    let context = try MusicScene().context
    var descriptor = FetchDescriptor<Ensemble>(
      predicate: #Predicate { $0.players.contains { $0.age >= 0 } }
    )
    descriptor.fetchLimit = 2
    let plan = try context.explain(descriptor)
    #expect(plan.accesses.reduce(0) { $0 + $1.readRowCount } < 50, "\(plan)")
  }
}
