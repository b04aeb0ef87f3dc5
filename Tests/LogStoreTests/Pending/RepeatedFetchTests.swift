import Foundation
import LogStore
import SwiftData
import Testing

@Model final class Errand {
  #Index<Errand>([\.due], [\.state, \.due])

  var number: Int
  var due: Date
  var state: Int
  var isDone = false
  var note: String?

  /// Not stored: a predicate that asks for it needs objects.
  var isCurious: Bool { true }

  init(_ number: Int, due: Int, state: Int = 0) {
    self.number = number
    self.due = .errandDay(due)
    self.state = state
  }
}

extension Date {
  static func errandDay(_ number: Int) -> Date {
    Date(timeIntervalSinceReferenceDate: Double(number) * 86_400)
  }
}

/// A loop that fetches the first model, and does something after which it is no longer found.
enum Loop: CaseIterable {
  case deleting, deletingTheLast, deletingWithoutOrder, deletingWhatIsDue
  case changingNumber, changingFlag, changingFlagWithoutOrder, changingAfterAnother

  func descriptor(_ step: Int) -> FetchDescriptor<Errand> {
    var descriptor = FetchDescriptor<Errand>(predicate: predicate(step))
    switch self {
    case .deletingWithoutOrder, .changingFlagWithoutOrder: break
    case .deletingTheLast: descriptor.sortBy = [SortDescriptor(\.due, order: .reverse)]
    default: descriptor.sortBy = [SortDescriptor(\.due)]
    }
    descriptor.fetchLimit = 1
    return descriptor
  }

  private func predicate(_ step: Int) -> Predicate<Errand>? {
    switch self {
    case .deleting, .deletingTheLast, .deletingWithoutOrder: return nil
    case .deletingWhatIsDue:
      let now = Date.errandDay(10_000 + step)
      return #Predicate { $0.due <= now }
    case .changingNumber, .changingAfterAnother: return #Predicate { $0.state == 0 }
    case .changingFlag, .changingFlagWithoutOrder: return #Predicate { !$0.isDone }
    }
  }

  func take(_ errand: Errand, from context: ModelContext) {
    switch self {
    case .deleting, .deletingTheLast, .deletingWithoutOrder, .deletingWhatIsDue:
      context.delete(errand)
    case .changingNumber: errand.state = 1
    case .changingAfterAnother:
      errand.note = "seen"
      errand.state = 1
    case .changingFlag, .changingFlagWithoutOrder: errand.isDone = true
    }
  }
}

@Suite struct `A fetch that is repeated while models are unsaved` {
  private let context: ModelContext

  init() throws {
    context = ModelContext(
      try ModelContainer(
        for: Errand.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
      )
    )
    context.autosaveEnabled = false
  }

  private func insert(_ count: Int) throws {
    for number in 0..<count { context.insert(Errand(number, due: number * 7919 % count)) }
    try context.save()
  }

  @Test(arguments: Loop.allCases)
  func `reads each row a few times, however many are taken`(loop: Loop) throws {
    let count = 600
    try insert(count)
    let (taken, plans) = try context.explain {
      var taken = 0
      while let errand = try context.fetch(loop.descriptor(taken)).first {
        loop.take(errand, from: context)
        taken += 1
      }
      return taken
    }
    #expect(taken == count)
    let readCount = plans.flatMap(\.accesses).reduce(0) { $0 + $1.readRowCount }
    // An index is walked some rows at a time where these have to be tested.
    #expect(readCount < 20 * count, "\(readCount) rows")
    try context.save()
    #expect(try context.fetch(loop.descriptor(0)).isEmpty)
  }

  @Test func `reads no more rows in an order without an index, however many are deleted`() throws {
    try insert(2_000)
    var first = FetchDescriptor<Errand>(sortBy: [SortDescriptor(\.number)])
    first.fetchLimit = 1
    func readCount() throws -> Int {
      try context.explain(first).accesses.reduce(0) { $0 + $1.readRowCount }
    }
    for number in 0..<10 {
      let errand = try #require(try context.fetch(first).first)
      #expect(errand.number == number)
      context.delete(errand)
    }
    let atFirst = try readCount()
    for _ in 0..<900 { if let errand = try context.fetch(first).first { context.delete(errand) } }
    // The row deleted since the last fetch is allowed for.
    #expect(try readCount() <= atFirst + 1)
    #expect(try context.fetch(first).first?.number == 910)
  }

  @Test(arguments: Loop.allCases, [false, true])
  func `finds each new model once`(loop: Loop, isFilledMeanwhile: Bool) throws {
    let count = 200
    for number in 0..<count { context.insert(Errand(number, due: number * 7919 % count)) }
    var numbers: Set<Int> = []
    var due: [Date] = []
    while let errand = try context.fetch(loop.descriptor(numbers.count)).first {
      #expect(numbers.insert(errand.number).inserted)
      due.append(errand.due)
      loop.take(errand, from: context)
      if isFilledMeanwhile, numbers.count % 4 == 0, numbers.count < 2 * count {
        context.insert(Errand(count + numbers.count, due: count + numbers.count))
      }
      let left = try context.fetchCount(
        FetchDescriptor<Errand>(predicate: loop.descriptor(0).predicate)
      )
      let all = context.insertedModelsArray.compactMap { $0 as? Errand }
      #expect(
        try left == all.filter { try loop.descriptor(0).predicate?.evaluate($0) ?? true }.count
      )
    }
    #expect(numbers.count >= count)
    switch loop {
    case .deletingWithoutOrder, .changingFlagWithoutOrder: break
    case .deletingTheLast: if !isFilledMeanwhile { #expect(due == due.sorted(by: >)) }
    default: #expect(due == due.sorted())
    }
  }

  @Test(arguments: [false, true])
  func `counts without reading what it has counted`(isFiltered: Bool) throws {
    let count = 600
    try insert(count)
    let end = Date.errandDay(1000)
    let all = FetchDescriptor<Errand>(predicate: isFiltered ? #Predicate { $0.due < end } : nil)
    let errands = try context.fetch(all)
    let (_, plans) = try context.explain {
      for (place, errand) in errands.enumerated() {
        errand.note = "seen"
        if isFiltered, place % 2 == 0 { errand.due = end } else { context.delete(errand) }
        let found = try context.fetchCount(all)
        #expect(found == count - place - 1)
      }
    }
    let readCount = plans.flatMap(\.accesses).reduce(0) { $0 + $1.readRowCount }
    #expect(readCount < 4 * count, "\(readCount) rows")
  }

  @Test func `finds what others save before the place it has got to`() throws {
    try insert(600)
    let loop = Loop.deleting
    for step in 0..<50 {
      context.delete(try #require(try context.fetch(loop.descriptor(step)).first))
    }
    let other = ModelContext(context.container)
    other.insert(Errand(-1, due: -1))
    try other.save()
    #expect(try context.fetch(loop.descriptor(50)).map(\.number) == [-1])
    #expect(try context.fetchCount(FetchDescriptor<Errand>()) == 551)
  }

  @Test(arguments: [false, true])
  func `finds what is no longer deleted or changed`(isUndone: Bool) throws {
    try insert(600)
    let manager = UndoManager()
    if isUndone { context.undoManager = manager }
    let loop = Loop.changingNumber
    let first = try #require(try context.fetch(loop.descriptor(0)).first)
    for step in 0..<40 {
      manager.beginUndoGrouping()
      let errand = try #require(try context.fetch(loop.descriptor(step)).first)
      if step % 2 == 0 { errand.state = 1 } else { context.delete(errand) }
      manager.endUndoGrouping()
    }
    if isUndone {
      while manager.canUndo { manager.undo() }
    } else {
      context.rollback()
    }
    #expect(try context.fetch(loop.descriptor(40)) == [first])
  }
}

/// Each fetch is compared with the same one put so that objects have to be tested, which remembers nothing.
@Suite struct `Fetches that are repeated beside everything else` {
  private struct Question: CustomStringConvertible {
    let predicate: Predicate<Errand>?
    let slow: Predicate<Errand>
    let description: String
  }

  /// A context of a store of its own, and the errands that are made for it.
  private struct Made {
    let context: ModelContext
    let manager = UndoManager()
    private var number = 0

    init(undoing isUndoing: Bool) throws {
      context = ModelContext(
        try ModelContainer(
          for: Errand.self,
          configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
      )
      context.autosaveEnabled = false
      if isUndoing { context.undoManager = manager }
    }

    mutating func errand(_ random: inout SeededRandom) -> Errand {
      number += 1
      return Errand(
        number,
        due: .random(in: 0..<40, using: &random),
        state: .random(in: 0..<3, using: &random)
      )
    }
  }

  private static var orders: [[SortDescriptor<Errand>]] {
    [
      [], [SortDescriptor(\.due)], [SortDescriptor(\.due, order: .reverse)],
      [SortDescriptor(\.state), SortDescriptor(\.due)],
      [SortDescriptor(\.number, order: .reverse)],
      [SortDescriptor(\.due), SortDescriptor(\.note, order: .reverse)],
    ]
  }

  private static func question(_ random: inout SeededRandom) -> Question {
    let state = Int.random(in: 0..<3, using: &random)
    let day = Date.errandDay(.random(in: 0..<40, using: &random))
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1:
      return Question(predicate: nil, slow: #Predicate { $0.isCurious }, description: "all")
    case 2:
      return Question(
        predicate: #Predicate { $0.state == state },
        slow: #Predicate { $0.isCurious && $0.state == state },
        description: "state \(state)"
      )
    case 3:
      return Question(
        predicate: #Predicate { !$0.isDone },
        slow: #Predicate { $0.isCurious && !$0.isDone },
        description: "not done"
      )
    case 4:
      return Question(
        predicate: #Predicate { $0.due <= day },
        slow: #Predicate { $0.isCurious && $0.due <= day },
        description: "due by \(day)"
      )
    case 5:
      return Question(
        predicate: #Predicate { $0.due >= day && $0.state != state },
        slow: #Predicate { $0.isCurious && $0.due >= day && $0.state != state },
        description: "due from \(day), not of state \(state)"
      )
    case 6:
      return Question(
        predicate: #Predicate { $0.state == state && day > $0.due },
        slow: #Predicate { $0.isCurious && $0.state == state && day > $0.due },
        description: "of state \(state), due before \(day)"
      )
    default:
      return Question(
        predicate: #Predicate { $0.note == nil || $0.due < day },
        slow: #Predicate { $0.isCurious && ($0.note == nil || $0.due < day) },
        description: "without note, or due before \(day)"
      )
    }
  }

  private func check(_ random: inout SeededRandom, _ context: ModelContext, _ seed: UInt64) throws {
    let question = Self.question(&random)
    let order = Int.random(in: 0..<Self.orders.count, using: &random)
    try check(question, order, context, seed)
  }

  private func check(
    _ question: Question,
    _ order: Int,
    _ context: ModelContext,
    _ seed: UInt64
  ) throws {
    var slow = FetchDescriptor(predicate: question.slow, sortBy: Self.orders[order])
    var fast = FetchDescriptor(predicate: question.predicate, sortBy: Self.orders[order])
    let comment: Comment = "seed \(seed), \(question), order \(order)"
    let expected = try context.fetch(slow)
    for limit in [1, 3, nil] {
      fast.fetchLimit = limit
      let found = try context.fetch(fast)
      #expect(found.map(\.number) == expected.prefix(limit ?? .max).map(\.number), comment)
    }
    slow.fetchLimit = nil
    #expect(try context.fetchCount(fast) == expected.count, comment)
  }

  @Test(arguments: UInt64(1)...5, [30, 300])
  func `find the same as if they were made once`(seed: UInt64, count: Int) throws {
    var random = SeededRandom(seed: seed)
    var made = try Made(undoing: seed % 2 == 0)
    let (context, manager) = (made.context, made.manager)
    for _ in 0..<count { context.insert(made.errand(&random)) }
    try context.save()
    for _ in 0..<60 {
      var descriptor = FetchDescriptor<Errand>(
        predicate: Self.question(&random).predicate,
        sortBy: Self.orders.randomElement(using: &random) ?? []
      )
      descriptor.fetchLimit = 2
      for errand in try context.fetch(descriptor) {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: context.delete(errand)
        case 4, 5: errand.state = .random(in: 0..<3, using: &random)
        case 6: errand.due = .errandDay(.random(in: 0..<40, using: &random))
        case 7: errand.isDone.toggle()
        case 8: errand.note = errand.note == nil ? "seen" : nil
        default: context.insert(made.errand(&random))
        }
      }
      switch Int.random(in: 0..<24, using: &random) {
      case 0: try context.save()
      case 1: context.rollback()
      case 2, 3: if manager.canUndo { manager.undo() }
      case 4, 5:
        let other = ModelContext(context.container)
        other.insert(made.errand(&random))
        for errand in try other.fetch(FetchDescriptor<Errand>()).prefix(3) {
          errand.note = "by another"
        }
        try other.save()
      default: break
      }
      for _ in 0..<2 { try check(&random, context, seed) }
    }
  }

  /// The models that match are kept from one fetch to the next: here whatever may change them comes between two.
  @Test(arguments: UInt64(1)...8)
  func `find the same whatever happens to unsaved models in between`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var made = try Made(undoing: seed % 2 == 0)
    let (context, manager) = (made.context, made.manager)
    context.automaticallyMergesChanges = seed % 4 > 1
    for _ in 0..<60 { context.insert(made.errand(&random)) }
    try context.save()
    var errands = try context.fetch(FetchDescriptor<Errand>())
    for errand in errands.prefix(30) { errand.state = 2 - errand.state }
    for _ in 0..<40 {
      errands.append(made.errand(&random))
      context.insert(errands[errands.count - 1])
    }
    // Three of them are asked again and again.
    let questions = (0..<3).map { _ in
      (Self.question(&random), Int.random(in: 0..<Self.orders.count, using: &random))
    }
    for step in 0..<300 {
      let errand = try #require(errands.randomElement(using: &random))
      switch Int.random(in: 0..<24, using: &random) {
      case 0..<4: errand.state = .random(in: 0..<3, using: &random)
      case 4..<7: errand.due = .errandDay(.random(in: 0..<40, using: &random))
      case 7, 8: errand.isDone.toggle()
      case 9, 10: errand.note = errand.note == nil ? "seen" : nil
      case 11..<14: if errand.modelContext != nil { context.delete(errand) }
      case 14..<17: context.insert(errand)
      case 17, 18:
        errands.append(made.errand(&random))
        context.insert(errands[errands.count - 1])
      case 19: if manager.canUndo { manager.undo() }
      case 20: if manager.canRedo { manager.redo() }
      case 21:
        let other = ModelContext(context.container)
        for stored in try other.fetch(FetchDescriptor<Errand>()).prefix(6) {
          switch Int.random(in: 0..<4, using: &random) {
          case 0: other.delete(stored)
          case 1: stored.due = .errandDay(.random(in: 0..<40, using: &random))
          default: stored.note = "by another"
          }
        }
        try other.save()
      default:
        if step % 50 == 49 { context.rollback() }
      }
      if step % 3 == 0 { context.processPendingChanges() }
      let (question, order) = questions[step % 3]
      try check(question, order, context, seed)
    }
  }
}
