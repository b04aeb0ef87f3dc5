import Foundation
import LogStore
import SwiftData
import Testing

@Model final class TideReading {
  #Index<TideReading>([\.at], [\.depth])

  var number: Int
  var at: Date
  var depth: Double
  var level: Int
  var ratio: Float
  var draught: Double?
  var place: String
  var gauge: String?
  var isChecked = false

  /// Not stored: a predicate that asks for it needs objects.
  var isCurious: Bool { true }

  init(_ number: Int, _ random: inout SeededRandom) {
    self.number = number
    at = .tideDay(&random)
    depth = .depth(&random)
    level = .random(in: -3...3, using: &random)
    ratio = Float(Double.depth(&random))
    draught = Bool.random(using: &random) ? .depth(&random) : nil
    place = .tidePlace(&random)
    gauge = Bool.random(using: &random) ? .tidePlace(&random) : nil
  }
}

extension String {
  /// A name; two of them are one in two spellings.
  fileprivate static func tidePlace(_ random: inout SeededRandom) -> String {
    ["Conqu\u{EA}t", "Conque\u{302}t", "Brest", "brest", ""].randomElement(using: &random) ?? ""
  }
}

extension Date {
  fileprivate static func tideDay(_ random: inout SeededRandom) -> Date {
    Date(timeIntervalSinceReferenceDate: Double(Int.random(in: -20..<20, using: &random)) * 86_400)
  }
}

extension Double {
  /// A number, or what sorts in an unusual place.
  fileprivate static func depth(_ random: inout SeededRandom) -> Double {
    switch Int.random(in: 0..<12, using: &random) {
    case 0: .nan
    case 1: -0.0
    case 2: 0
    case 3: .infinity
    default: Double(Int.random(in: -20..<20, using: &random)) / 4
    }
  }
}

/// Each fetch sets other bounds than the last one, and is compared with the same one put so that objects have to be tested.
@Suite struct `Fetches of changing parts of many unsaved models` {
  private struct Question {
    let fast: Predicate<TideReading>?
    let slow: Predicate<TideReading>
    let description: String
  }

  private static let orders: [[SortDescriptor<TideReading>]] = [
    [], [SortDescriptor(\.at)], [SortDescriptor(\.at, order: .reverse)],
    [SortDescriptor(\.depth), SortDescriptor(\.level, order: .reverse)],
    [SortDescriptor(\.depth, order: .reverse)], [SortDescriptor(\.level), SortDescriptor(\.at)],
    [SortDescriptor(\.ratio)], [SortDescriptor(\.draught), SortDescriptor(\.number)],
    [SortDescriptor(\.number, order: .reverse)],
  ]

  private static func question(_ kind: Int, _ random: inout SeededRandom) -> Question {
    let (day, end) = (Date.tideDay(&random), Date.tideDay(&random))
    let (depth, other) = (Double.depth(&random), Double.depth(&random))
    let (level, top) = (
      Int.random(in: -3...3, using: &random), Int.random(in: -3...3, using: &random)
    )
    let ratio = Float(Double.depth(&random))
    let (place, gauge) = (String.tidePlace(&random), String.tidePlace(&random))
    let draught: Double? = Bool.random(using: &random) ? .depth(&random) : nil
    switch kind {
    case 0:
      return Question(
        fast: #Predicate { $0.at >= day && $0.at < end },
        slow: #Predicate { $0.isCurious && $0.at >= day && $0.at < end },
        description: "at \(day) to \(end)"
      )
    case 1:
      return Question(
        fast: #Predicate { $0.depth > depth },
        slow: #Predicate { $0.isCurious && $0.depth > depth },
        description: "deeper than \(depth)"
      )
    case 2:
      return Question(
        fast: #Predicate { depth >= $0.depth && $0.isChecked },
        slow: #Predicate { $0.isCurious && depth >= $0.depth && $0.isChecked },
        description: "checked, to \(depth)"
      )
    case 3:
      return Question(
        fast: #Predicate { $0.level >= level && $0.level <= top && $0.depth < other },
        slow: #Predicate {
          $0.isCurious && $0.level >= level && $0.level <= top && $0.depth < other
        },
        description: "level \(level) to \(top), less deep than \(other)"
      )
    case 4:
      return Question(
        fast: #Predicate { $0.ratio < ratio && $0.number != level },
        slow: #Predicate { $0.isCurious && $0.ratio < ratio && $0.number != level },
        description: "ratio below \(ratio)"
      )
    case 5:
      return Question(
        fast: #Predicate { $0.draught == nil && $0.depth >= depth && $0.depth >= other },
        slow: #Predicate {
          $0.isCurious && $0.draught == nil && $0.depth >= depth && $0.depth >= other
        },
        description: "without draught, from \(depth) and \(other)"
      )
    case 6:
      return Question(
        fast: #Predicate { $0.level == level && $0.at > day },
        slow: #Predicate { $0.isCurious && $0.level == level && $0.at > day },
        description: "level \(level), after \(day)"
      )
    case 7:
      return Question(
        fast: #Predicate { $0.place == place && $0.depth >= depth },
        slow: #Predicate { $0.isCurious && $0.place == place && $0.depth >= depth },
        description: "at \(place), from \(depth)"
      )
    case 8:
      return Question(
        fast: #Predicate { $0.draught == draught && gauge == $0.gauge },
        slow: #Predicate { $0.isCurious && $0.draught == draught && gauge == $0.gauge },
        description: "draught \(String(describing: draught)), by \(gauge)"
      )
    case 9:
      return Question(
        fast: #Predicate { $0.place == place && $0.place == gauge && $0.at < day },
        slow: #Predicate { $0.isCurious && $0.place == place && $0.place == gauge && $0.at < day },
        description: "at \(place) and \(gauge), before \(day)"
      )
    case 10:
      return Question(
        fast: #Predicate { $0.isChecked == false && $0.ratio == ratio || $0.gauge == gauge },
        slow: #Predicate {
          $0.isCurious && ($0.isChecked == false && $0.ratio == ratio || $0.gauge == gauge)
        },
        description: "ratio \(ratio), or by \(gauge)"
      )
    case 11:
      return Question(
        fast: #Predicate { $0.depth == depth && $0.isChecked == false && $0.level > level },
        slow: #Predicate {
          $0.isCurious && $0.depth == depth && $0.isChecked == false && $0.level > level
        },
        description: "depth \(depth), above level \(level)"
      )
    default: return Question(fast: nil, slow: #Predicate { $0.isCurious }, description: "all")
    }
  }

  private static let kindCount = 13

  private func check(
    _ kind: Int,
    _ order: Int,
    _ random: inout SeededRandom,
    _ context: ModelContext,
    _ seed: UInt64
  ) throws {
    let question = Self.question(kind, &random)
    let slow = FetchDescriptor(predicate: question.slow, sortBy: Self.orders[order])
    var fast = FetchDescriptor(predicate: question.fast, sortBy: Self.orders[order])
    let comment: Comment = "seed \(seed), \(question.description), order \(order)"
    let models = try context.fetch(slow)
    let expected = models.map(\.number)
    #expect(
      try context.aggregate(fast, .sum(\.level)) == models.reduce(0) { $0 + $1.level },
      comment
    )
    let groups = try context.aggregate(fast, by: \.isChecked, .count)
    #expect(
      Dictionary(uniqueKeysWithValues: groups)
        == Dictionary(grouping: models, by: \.isChecked).mapValues(\.count),
      comment
    )
    #expect(try context.fetchCount(fast) == expected.count, comment)
    for (offset, limit) in [(0, nil), (0, 3), (2, 5), (expected.count / 2, 4), (40, 2), (30, nil)] {
      fast.fetchLimit = limit
      fast.fetchOffset = offset
      let wanted = expected.dropFirst(offset).prefix(limit ?? .max)
      #expect(try context.fetch(fast).map(\.number) == Array(wanted), comment)
      let identifiers = try context.fetchIdentifiers(fast)
      #expect(
        identifiers.map { (context.model(for: $0) as? TideReading)?.number } == wanted.map { $0 },
        comment
      )
    }
    // The pages, each of which begins where the last one ends.
    fast.fetchOffset = nil
    fast.fetchLimit = 7
    var numbers: [Int] = []
    var token: PageToken?
    repeat {
      let page = try context.page(fast, after: token)
      numbers += page.models.map(\.number)
      token = page.next
    } while token != nil
    #expect(numbers == expected, comment)
  }

  @Test(arguments: UInt64(1)...10)
  func `find the same as if they were made once`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let context = ModelContext(
      try ModelContainer(
        for: TideReading.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
      )
    )
    context.autosaveEnabled = false
    context.automaticallyMergesChanges = seed % 2 == 0
    let manager = UndoManager()
    if seed % 3 == 0 { context.undoManager = manager }
    var number = 0
    func insert() {
      number += 1
      context.insert(TideReading(number, &random))
    }
    for _ in 0..<80 { insert() }
    try context.save()
    for reading in try context.fetch(FetchDescriptor<TideReading>()).prefix(40) {
      reading.depth = .depth(&random)
    }
    for _ in 0..<40 { insert() }
    // A few kinds of questions are asked again and again, each time with other bounds.
    let kinds = (0..<3).map { _ in
      (
        Int.random(in: 0..<Self.kindCount, using: &random),
        Int.random(in: 0..<Self.orders.count, using: &random)
      )
    }
    for step in 0..<60 {
      for _ in 0..<Int.random(in: 0..<3, using: &random) {
        guard
          let reading = try context.fetch(FetchDescriptor<TideReading>())
            .randomElement(using: &random)
        else { break }
        switch Int.random(in: 0..<16, using: &random) {
        case 0, 1: reading.at = .tideDay(&random)
        case 2, 3: reading.depth = .depth(&random)
        case 4: reading.level = .random(in: -3...3, using: &random)
        case 5: reading.ratio = Float(Double.depth(&random))
        case 6: reading.draught = reading.draught == nil ? .depth(&random) : nil
        case 7:
          reading.isChecked.toggle()
          reading.place = .tidePlace(&random)
        case 8: context.delete(reading)
        case 9:
          // Between the two, figures and fetches know it as deleted.
          context.delete(reading)
          let (kind, order) = kinds[step % 3]
          try check(kind, order, &random, context, seed)
          context.insert(reading)
        case 10: if manager.canUndo { manager.undo() }
        case 11:
          let other = ModelContext(context.container)
          for stored in try other.fetch(FetchDescriptor<TideReading>()).prefix(4) {
            stored.at = .tideDay(&random)
            if stored.number % 5 == 0 { other.delete(stored) }
          }
          try other.save()
        case 12: if step % 20 == 19 { context.rollback() }
        default: insert()
        }
      }
      let (kind, order) = kinds[step % 3]
      try check(kind, order, &random, context, seed)
    }
  }

  @Test func `find a model by a value that was set right after another of its values`() throws {
    var random = SeededRandom(seed: 1)
    let context = ModelContext(
      try ModelContainer(
        for: TideReading.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
      )
    )
    context.autosaveEnabled = false
    let readings = (0..<40).map { TideReading($0, &random) }
    for reading in readings { context.insert(reading) }
    let inOuessant = FetchDescriptor<TideReading>(predicate: #Predicate { $0.place == "Ouessant" })
    #expect(try context.fetch(inOuessant).isEmpty)
    // A list of the models that match is kept from some time on.
    for depth in 0..<5 {
      let depth = Double(depth)
      _ = try context.fetch(
        FetchDescriptor<TideReading>(predicate: #Predicate { $0.depth > depth })
      )
    }
    readings[7].isChecked.toggle()
    readings[7].place = "Ouessant"
    #expect(try context.fetch(inOuessant) == [readings[7]])
  }

  /// The store skips the rows before, some of which have unsaved changes here.
  @Test(arguments: UInt64(1)...8)
  func `find what is far behind the first row`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let context = ModelContext(
      try ModelContainer(
        for: TideReading.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
      )
    )
    context.autosaveEnabled = false
    for number in 0..<400 { context.insert(TideReading(number, &random)) }
    try context.save()
    for step in 0..<20 {
      let stored = try context.fetch(FetchDescriptor<TideReading>())
      let reading = try #require(stored.randomElement(using: &random))
      switch Int.random(in: 0..<6, using: &random) {
      case 0: context.delete(reading)
      case 1: context.insert(TideReading(1_000 + step, &random))
      case 2: reading.level = .random(in: -3...3, using: &random)
      case 3: reading.at = .tideDay(&random)
      default: reading.depth = .depth(&random)
      }
      if step == 10 {
        let other = ModelContext(context.container)
        for reading in try other.fetch(FetchDescriptor<TideReading>()).prefix(6) {
          reading.depth = .depth(&random)
        }
        try other.save()
      }
      let question = Self.question(.random(in: 0..<Self.kindCount, using: &random), &random)
      let order = Int.random(in: 0..<Self.orders.count, using: &random)
      let slow = FetchDescriptor(predicate: question.slow, sortBy: Self.orders[order])
      let expected = try context.fetch(slow).map(\.number)
      var fast = FetchDescriptor(predicate: question.fast, sortBy: Self.orders[order])
      for _ in 0..<8 {
        let offset = Int.random(in: 0..<expected.count + 10, using: &random)
        fast.fetchOffset = offset
        fast.fetchLimit = [nil, 1, 5, 50].randomElement(using: &random) ?? nil
        let found = try context.fetch(fast).map(\.number)
        let wanted = expected.dropFirst(offset).prefix(fast.fetchLimit ?? .max)
        #expect(
          found == Array(wanted),
          "seed \(seed), \(question.description), order \(order), offset \(offset)"
        )
      }
    }
  }

  @Test func `read only the rows around a place far behind the first`() throws {
    var random = SeededRandom(seed: 1)
    let context = ModelContext(
      try ModelContainer(
        for: TideReading.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
      )
    )
    for number in 0..<2_000 { context.insert(TideReading(number, &random)) }
    try context.save()
    let readings = try context.fetch(FetchDescriptor<TideReading>(sortBy: [SortDescriptor(\.at)]))
    readings[3].at += 1
    context.delete(readings[1_500])
    var page = FetchDescriptor<TideReading>(sortBy: [SortDescriptor(\.at)])
    page.fetchOffset = 1_900
    page.fetchLimit = 20
    let (models, plans) = try context.explain { try context.fetch(page) }
    #expect(models.map(\.number) == readings[1_901..<1_921].map(\.number))
    let readCount = plans.flatMap(\.accesses).reduce(0) { $0 + $1.readRowCount }
    #expect(readCount < 200, "\(readCount) rows")
  }
}
