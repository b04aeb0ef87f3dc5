import Foundation
import LogStore
import SwiftData
import Testing

@Model final class Cupboard {
  var name: String
  @Relationship(inverse: \Jar.cupboard) var jars: [Jar] = []
  init(name: String) { self.name = name }
}

@Model final class Jar {
  var number: Int
  var content = ""
  var cupboard: Cupboard?
  init(number: Int) { self.number = number }
}

/// The names of all models before their unsaved changes, beside the context that has these.
private struct Jars {
  let context: ModelContext
  let random: SeededRandom
  /// The jars by what is saved, in the order of their rows: number and cupboard's name.
  private var saved: [(number: Int, name: String?)] = []

  init(seed: UInt64, count: Int, changes: Int) throws {
    var random = SeededRandom(seed: seed)
    context = ModelContext(
      try ModelContainer(
        for: Jar.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
      )
    )
    func name() -> String { ["a", "b", "c", "d", "e", "f"][random.next(below: 6)] }
    let cupboards = (0..<8).map { _ in Cupboard(name: name()) }
    for cupboard in cupboards { context.insert(cupboard) }
    var jars: [Jar] = []
    for number in 0..<count {
      let jar = Jar(number: number)
      context.insert(jar)
      jar.cupboard = random.next(below: 9) == 0 ? nil : cupboards[random.next(below: 8)]
      jars.append(jar)
    }
    try context.save()
    saved = jars.map { ($0.number, $0.cupboard?.name) }
    for _ in 0..<changes {
      let jar = jars[random.next(below: count)]
      switch random.next(below: 6) {
      case 0: context.delete(jar)
      case 1: if !jar.isDeleted { jar.cupboard = cupboards[random.next(below: 8)] }
      case 2: if !jar.isDeleted { jar.content += "!" }
      case 3:
        let jar = Jar(number: 1000 + jars.count)
        context.insert(jar)
        jar.cupboard = cupboards[random.next(below: 8)]
        jars.append(jar)
      default: cupboards[random.next(below: 8)].name = name()
      }
    }
    self.random = random
    self.jars = jars
  }

  private var jars: [Jar] = []

  /// The numbers in their order: changed and new jars by what is in the context, all others by what is saved.
  func expected(_ order: SortOrder) -> [Int] {
    var keyed: [(key: String?, place: Int, number: Int)] = []
    for (place, jar) in jars.enumerated() where !jar.isDeleted {
      let key = jar.hasChanges ? jar.cupboard?.name : saved[place].name
      keyed.append((key, place, jar.number))
    }
    return keyed.sorted { lhs, rhs in
      if lhs.key == rhs.key { return lhs.place < rhs.place }
      guard let left = lhs.key else { return order == .forward }
      guard let right = rhs.key else { return order == .reverse }
      return order == .forward ? left < right : left > right
    }.map(\.number)
  }
}

@Suite struct `Models sorted by what others have unsaved` {
  @Test(arguments: [1, 2, 3, 4] as [UInt64], [SortOrder.forward, .reverse])
  func `have one order, whatever part of them is fetched`(seed: UInt64, order: SortOrder) throws {
    for (count, changes) in [(3, 2), (40, 12), (300, 8), (300, 200)] {
      let jars = try Jars(seed: seed, count: count, changes: changes)
      let context = jars.context
      let expected = jars.expected(order)
      let told: Comment = "seed \(seed), \(count) jars, \(changes) changes"
      var descriptor = FetchDescriptor<Jar>(sortBy: [SortDescriptor(\.cupboard?.name, order: order)]
      )
      #expect(try context.fetch(descriptor).map(\.number) == expected, told)
      #expect(
        try context.fetchIdentifiers(descriptor).map { (context.model(for: $0) as? Jar)?.number }
          == expected,
        told
      )
      for offset in [0, 1, count / 3, expected.count - 1, expected.count] {
        for limit in [1, 7, count] {
          descriptor.fetchOffset = offset
          descriptor.fetchLimit = limit
          #expect(
            try context.fetch(descriptor).map(\.number)
              == Array(expected.dropFirst(offset).prefix(limit)),
            "\(told), \(limit) behind \(offset)"
          )
        }
      }
      descriptor.fetchOffset = nil
      for size in [1, 5, 64] {
        descriptor.fetchLimit = size
        var pages = [try context.page(descriptor)]
        while let next = pages.last?.next {
          pages.append(try context.page(descriptor, after: next))
        }
        #expect(pages.flatMap(\.models).map(\.number) == expected, "\(told), pages of \(size)")
        let last = try #require(pages.last)
        var back = last.models
        var token = last.previous
        while let previous = token {
          let page = try context.page(descriptor, before: previous)
          back.insert(contentsOf: page.models, at: 0)
          token = page.previous
        }
        #expect(back.map(\.number) == expected, "\(told), back by pages of \(size)")
      }
    }
  }

  @Test func `begin a page behind the saved values of the last, if unsaved ones do not count`()
    throws
  {
    let jars = try Jars(seed: 7, count: 60, changes: 0)
    let context = jars.context
    let expected = jars.expected(.forward)
    for cupboard in try context.fetch(FetchDescriptor<Cupboard>()) {
      cupboard.name = "z" + cupboard.name
    }
    for jar in try context.fetch(FetchDescriptor<Jar>()) where jar.number % 3 == 0 {
      jar.cupboard = nil
      jar.number += 500
    }
    for keys in [
      [SortDescriptor(\Jar.cupboard?.name)], [SortDescriptor(\.number, order: .reverse)],
    ] {
      var descriptor = FetchDescriptor<Jar>(sortBy: keys)
      descriptor.includePendingChanges = false
      let whole = try context.fetch(descriptor).map(\.persistentModelID)
      if keys.count == 1, keys[0].order == .forward {
        #expect(try context.fetch(descriptor).map { $0.number % 500 } == expected)
      }
      descriptor.fetchLimit = 7
      var pages = [try context.page(descriptor)]
      while let next = pages.last?.next { pages.append(try context.page(descriptor, after: next)) }
      #expect(pages.flatMap(\.models).map(\.persistentModelID) == whole)
    }
  }

  @Test(arguments: [SortOrder.forward, .reverse])
  func `are in pages as in a fetch beside former values in memory, too`(order: SortOrder) throws {
    let jars = try Jars(seed: 9, count: 60, changes: 0)
    let context = ModelContext(jars.context.container)
    // The context holds the cupboards with their former names.
    let cupboards = try context.fetch(FetchDescriptor<Cupboard>())
    let names = cupboards.map(\.name)
    for (number, cupboard) in try jars.context.fetch(FetchDescriptor<Cupboard>()).enumerated() {
      cupboard.name = ["z", "a", "m"][number % 3]
    }
    try jars.context.save()
    var descriptor = FetchDescriptor<Jar>(
      sortBy: [SortDescriptor(\.cupboard?.name, order: order), SortDescriptor(\.number)]
    )
    let expected = try jars.context.fetch(descriptor).map(\.number)
    #expect(try context.fetch(descriptor).map(\.number) == expected)
    descriptor.fetchLimit = 7
    var pages = [try context.page(descriptor)]
    while pages.count < 20, let next = pages.last?.next {
      pages.append(try context.page(descriptor, after: next))
    }
    #expect(pages.flatMap(\.models).map(\.number) == expected)
    #expect(cupboards.map(\.name) == names)
  }
}
