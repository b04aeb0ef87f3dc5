import Foundation
import LogStore
import ModelRuntime
import PostgresStore
import Testing

private typealias Voyage = Deriving.Voyage
private typealias Cruise = Deriving.Cruise
private typealias Expense = Deriving.Expense
private typealias Guide = Deriving.Guide

@Suite struct `Derived attributes on a PostgreSQL server` {
  private let namespace: TestNamespace
  private let container: ModelContainer
  private let context: ModelContext

  init() throws {
    namespace = try TestNamespace()
    container = try Self.open(namespace)
    context = ModelContext(container)
  }

  private static func open(_ namespace: TestNamespace) throws -> ModelContainer {
    try ModelContainer(for: Deriving.schema, configurations: [namespace.configuration])
  }

  private func insertVoyage(_ expenses: [Expense] = []) throws -> Voyage {
    let voyage = Voyage(1, "Cádiz", notes: "Ça va")
    context.insert(voyage)
    voyage.expenses = expenses
    try context.save()
    return voyage
  }

  @Test func `have their values once their model is saved, also for other contexts`() throws {
    let voyage = try insertVoyage([
      Expense(1, amount: 10, tax: 1, weight: 0.5), Expense(2, amount: 32, share: 2),
    ])
    for context in [context, ModelContext(container), ModelContext(try Self.open(namespace))] {
      let voyage = try #require(try Deriving.voyages(context).first)
      #expect((voyage.expenseCount, voyage.total, voyage.tax) == (2, 42, 1))
      #expect((voyage.weight, voyage.share) == (0.5, 2))
      #expect((voyage.searchName, voyage.searchNotes) == ("cadiz", "ca va"))
      #expect(voyage.lastModified != nil)
    }
    // A context that has the model follows what another one saves.
    let other = ModelContext(container)
    let same = try #require(try Deriving.voyages(other).first)
    #expect(same.expenseCount == 2)
    context.insert(Expense(3, amount: 1, of: voyage))
    try context.save()
    #expect((voyage.expenseCount, voyage.total) == (3, 43))
    _ = try Deriving.voyages(other)
    #expect((same.expenseCount, same.total) == (3, 43))
  }

  @Test func `serve predicates and sorts`() throws {
    for number in 0..<20 {
      let voyage = Voyage(number, "Étape \(number)")
      context.insert(voyage)
      voyage.expenses = (0..<number % 5).map { Expense($0) }
    }
    try context.save()
    let busy = FetchDescriptor<Voyage>(
      predicate: #Predicate { $0.expenseCount >= 3 },
      sortBy: [SortDescriptor(\.expenseCount, order: .reverse), SortDescriptor(\.searchName)]
    )
    #expect(try context.fetch(busy).map(\.expenseCount) == [4, 4, 4, 4, 3, 3, 3, 3])
    let name = Schema.Derivation.canonicalText(of: "éTAPE 7")
    let named = FetchDescriptor<Voyage>(predicate: #Predicate { $0.searchName == name })
    #expect(try context.fetch(named).map(\.serial) == [7])
  }

  @Test func `of a sum that overflows make the save throw, and write nothing`() throws {
    let voyage = try insertVoyage([Expense(1, tax: 1)])
    let large = Expense(2, tax: 127, of: voyage)
    context.insert(large)
    #expect {
      try context.save()
    } throws: {
      $0 as? SwiftDataError == .modelValidationFailure && "\($0)".contains("Voyage.tax")
        && "\($0)".contains("128")
    }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Expense>()) == 1)
    large.tax = 126
    try context.save()
    #expect(voyage.tax == 127)
  }

  @Test func `add up integers beyond the bounds of their types in any order`() throws {
    let voyage = try insertVoyage()
    let amounts = [Int.max, -Int.max, Int.max - 42, 42].map { Expense(1, amount: $0, of: voyage) }
    for expense in amounts { context.insert(expense) }
    let bytes = [UInt64.max - 10, 3, 7].map { Expense(2, bytes: $0, of: voyage) }
    for expense in bytes { context.insert(expense) }
    try context.save()
    #expect((voyage.total, voyage.bytes) == (Int.max, .max))
    amounts[0].amount = 0
    bytes[0].bytes = 1 << 63
    try context.save()
    #expect((voyage.total, voyage.bytes) == (0, 1 << 63 + 10))
    context.insert(Expense(3, bytes: 1 << 63, of: voyage))
    #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
  }

  @Test func `lose no small number to a large one that came and went`() throws {
    let voyage = try insertVoyage([Expense(1, weight: 2.5, share: 0.5)])
    let large = Expense(2, weight: 1e300, share: .greatestFiniteMagnitude, of: voyage)
    context.insert(large)
    try context.save()
    #expect((voyage.weight, voyage.share) == (1e300, .greatestFiniteMagnitude))
    large.share = .infinity
    large.weight = .infinity
    try context.save()
    #expect((voyage.weight, voyage.share) == (.infinity, .infinity))
    context.delete(large)
    try context.save()
    #expect((voyage.weight, voyage.share) == (2.5, 0.5))
  }

  @Test func `round sums of floats as Swift does, to infinity and to zero`() throws {
    let voyage = try insertVoyage()
    let large = [1, 2].map { Expense($0, share: .greatestFiniteMagnitude, of: voyage) }
    for expense in large { context.insert(expense) }
    try context.save()
    #expect(voyage.share == .infinity)
    for expense in large { expense.share = -.leastNonzeroMagnitude }
    try context.save()
    #expect(voyage.share == -2 * Float.leastNonzeroMagnitude)
    large[0].share = .nan
    try context.save()
    #expect(voyage.share.isNaN)
  }

  @Test func `are dated by each save that writes their row`() throws {
    let voyage = try insertVoyage([Expense(1, amount: 1)])
    let first = try #require(voyage.lastModified)
    context.insert(Guide("Ana"))
    try context.save()
    #expect(try #require(Deriving.voyages(ModelContext(container)).first).lastModified == first)
    voyage.notes = "more"
    try context.save()
    let second = try #require(voyage.lastModified)
    #expect(second > first)
    voyage.expenses.first?.amount += 1
    try context.save()
    #expect(try #require(voyage.lastModified) > second)
  }

  @Test func `are in the history of their model once for each save`() throws {
    let voyage = try insertVoyage()
    func attributes() throws -> [Set<PartialKeyPath<Voyage>>] {
      var found: [DefaultHistoryTransaction] = []
      while found.count < 3 {
        found = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
      }
      return found.dropFirst().map { transaction in
        let updates = transaction.changes.compactMap { change -> [PartialKeyPath<Voyage>]? in
          guard case .update(let update) = change,
            let update = update as? DefaultHistoryUpdate<Voyage>
          else { return nil }
          return update.updatedAttributes.map { $0 as PartialKeyPath<Voyage> }
        }
        #expect(updates.count == 1)
        return Set(updates.joined())
      }
    }
    let expense = Expense(1, of: voyage)
    context.insert(expense)
    try context.save()
    voyage.name = "Porto"
    expense.amount = 7
    try context.save()
    let found = try attributes()
    #expect(found[0] == [\Voyage.expenseCount, \Voyage.lastModified])
    let expected: Set<PartialKeyPath<Voyage>> = [
      \Voyage.name, \Voyage.searchName, \Voyage.total, \Voyage.lastModified,
    ]
    #expect(found[1] == expected)
  }

  @Test func `cost no round trip for a new member, and one for a member that changes`() throws {
    let voyage = try insertVoyage()
    let store = try #require(container.stores(of: PostgresStore.self).first)
    func roundTrips(_ body: () throws -> Void) rethrows -> Int {
      let before = store.roundTripCount
      try body()
      return store.roundTripCount - before
    }
    let expense = Expense(1, of: voyage)
    context.insert(expense)
    try context.save()
    // Of a member, a place in the list; then the changes, and the commit.
    let added = try roundTrips {
      context.insert(Expense(2, of: voyage))
      try context.save()
    }
    #expect(added == 3)
    // The row is read first.
    let changed = try roundTrips {
      expense.serial = 3
      try context.save()
    }
    let counted = try roundTrips {
      expense.amount = 3
      try context.save()
    }
    #expect(counted == changed + 1)
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `are those of a log store after the same saves and batches`(seed: UInt64) throws {
    var log = Twin(try Deriving.logContainer(), seed)
    var server = Twin(container, seed)
    for round in 0..<60 {
      let (expected, found) = (log.step(), server.step())
      #expect(found == expected, "seed \(seed), round \(round)")
      let derived = try Deriving.derived(ModelContext(container))
      let same = try Deriving.derived(ModelContext(log.container))
      #expect(derived == same, "seed \(seed), round \(round): \(expected)")
      if derived != same || found != expected { return }
    }
    try Deriving.check(ModelContext(container), "seed \(seed)")
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `count what several containers save to the same lists at once`(seed: UInt64) throws {
    for serial in 1...3 { context.insert(Voyage(serial, "\(serial)")) }
    try context.save()
    let errors = Errors()
    let namespace = namespace
    DispatchQueue.concurrentPerform(iterations: 4) { number in
      errors.collect {
        try Self.run(
          try Self.open(namespace),
          number,
          SeededGenerator(seed: seed * 10 + UInt64(number))
        )
      }
    }
    #expect(errors.all.map { "\($0)" } == [], "seed \(seed)")
    let context = ModelContext(try Self.open(namespace))
    try Deriving.check(context, "seed \(seed)")
    #expect(try Deriving.voyages(context).map(\.expenseCount).reduce(0, +) > 0, "seed \(seed)")
  }

  /// Inserts, moves, changes and deletes members of its own, so that no save fails.
  private static func run(
    _ container: ModelContainer,
    _ number: Int,
    _ generator: SeededGenerator
  ) throws {
    var chance = generator
    let context = ModelContext(container)
    for round in 0..<40 {
      let voyages = try Deriving.voyages(context)
      let own = try Deriving.expenses(context).filter { $0.serial % 4 == number }
      for _ in 0..<Int.random(in: 1...3, using: &chance) {
        let voyage = voyages.randomElement(using: &chance)
        let expense = own.filter { !$0.isDeleted }.randomElement(using: &chance)
        switch Int.random(in: 0..<6, using: &chance) {
        case 0: if let expense { context.delete(expense) }
        case 1: expense?.voyage = voyage
        case 2:
          expense?.amount += 1
          expense?.weight = 2
        case 3: voyage?.notes = "\(number) \(round)"
        default:
          context.insert(Expense(number + 4 * round, amount: round, weight: 0.5, of: voyage))
        }
      }
      try context.save()
    }
  }

  @Test func `are right when sessions are killed`() throws {
    let killer = try ServerSession(namespace.server.url)
    let voyage = try insertVoyage()
    for number in 0..<40 {
      if number % 3 == 0 {
        try killer.run(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            + "WHERE application_name = '\(namespace.name)'"
        )
      }
      if number % 4 == 3 { voyage.expenses.first?.amount += 1 }
      context.insert(Expense(number, amount: number, weight: 0.5, of: voyage))
      try context.save()
    }
    #expect(voyage.expenseCount == 40)
    try Deriving.check(ModelContext(container))
  }
}

/// Saves and batches that chance chooses, the same on two stores that hold the same.
private struct Twin {
  let container: ModelContainer
  private let context: ModelContext
  private var chance: SeededGenerator
  private var serial = 0

  init(_ container: ModelContainer, _ seed: UInt64) {
    self.container = container
    context = ModelContext(container)
    chance = SeededGenerator(seed: seed)
  }

  /// Makes a save, or a batch.
  ///
  /// - Returns: What was done, and what came of it.
  mutating func step() -> String {
    var done = "nothing"
    do {
      done = try change()
      try context.save()
      return done
    } catch SwiftDataError.modelValidationFailure {
      context.rollback()
      return "\(done): refused"
    } catch {
      context.rollback()
      return "\(done): \(error)"
    }
  }

  private mutating func change() throws -> String {
    if Int.random(in: 0..<4, using: &chance) == 0 { return try batch() }
    var done: [String] = []
    for _ in 0..<Int.random(in: 1...4, using: &chance) { done.append(try changeObjects()) }
    return done.joined(separator: ", ")
  }

  private mutating func expense(of voyage: Voyage?) -> Expense {
    serial += 1
    return Expense(
      serial,
      amount: Int.random(in: -9...9, using: &chance),
      tax: Int.random(in: 0..<3, using: &chance) == 0
        ? nil : Int8.random(in: -60...60, using: &chance),
      bytes: UInt64.random(in: 0...(.max / 64), using: &chance),
      weight: Double(Int.random(in: -8...8, using: &chance)) / 4,
      share: Float(Int.random(in: -8...8, using: &chance)) / 4,
      of: voyage
    )
  }

  private mutating func changeObjects() throws -> String {
    // Models that this save has deleted are not chosen; of new ones, the order is that of their serials.
    let voyages = try Deriving.voyages(context).filter { !$0.isDeleted }
    let expenses = try Deriving.expenses(context).filter { !$0.isDeleted }
    let guides = try Deriving.guides(context).filter { !$0.isDeleted }
    let voyage = voyages.randomElement(using: &chance)
    let expense = expenses.randomElement(using: &chance)
    let guide = guides.randomElement(using: &chance)
    switch Int.random(in: 0..<12, using: &chance) {
    case 0, 1:
      serial += 1
      let new =
        Bool.random(using: &chance)
        ? Voyage(serial, "Ä\(serial)") : Cruise(serial, "ẞ \(serial)", ship: "Ada")
      context.insert(new)
      for _ in 0..<Int.random(in: 0..<3, using: &chance) { context.insert(self.expense(of: new)) }
      return "insert"
    case 2, 3:
      context.insert(self.expense(of: voyage))
      return "member of \(voyage?.serial ?? 0)"
    case 4:
      expense?.voyage = Int.random(in: 0..<4, using: &chance) == 0 ? nil : voyage
      return "move \(expense?.serial ?? 0)"
    case 5:
      guard let expense else { return "" }
      let new = self.expense(of: nil)
      context.delete(new)
      (expense.amount, expense.tax, expense.bytes) = (new.amount, new.tax, new.bytes)
      (expense.weight, expense.share) = (new.weight, new.share)
      return "change \(expense.serial)"
    case 6:
      if let expense { context.delete(expense) }
      return "delete \(expense?.serial ?? 0)"
    case 7:
      if let voyage, voyages.count > 3 { context.delete(voyage) }
      return "delete owner \(voyage?.serial ?? 0)"
    case 8:
      let other = voyages.randomElement(using: &chance)
      voyage?.parent = Int.random(in: 0..<4, using: &chance) == 0 ? nil : other
      return "parent of \(voyage?.serial ?? 0)"
    case 9:
      guard let voyage, let guide else { return "" }
      if voyage.guides.contains(guide) {
        voyage.guides.removeAll { $0 === guide }
      } else {
        voyage.guides.append(guide)
      }
      return "guide"
    case 10:
      serial += 1
      if let guide, Bool.random(using: &chance) {
        context.delete(guide)
      } else {
        context.insert(Guide("É\(serial)"))
      }
      return "guides"
    default:
      voyage?.name = "Çà \(serial)"
      voyage?.notes = Bool.random(using: &chance) ? nil : "NOTE \(serial)"
      return "rename"
    }
  }

  private mutating func batch() throws -> String {
    let voyages = try Deriving.voyages(context)
    let voyage = voyages.randomElement(using: &chance)
    let limit = Int.random(in: -9...9, using: &chance)
    switch Int.random(in: 0..<5, using: &chance) {
    case 0:
      let first = serial
      serial += 5
      let rows = (1...5).map {
        (first + $0, limit, UInt64($0), 0.25, voyages.isEmpty ? nil : voyage)
      }
      let result = try context.batchInsert(
        Expense.self,
        \.serial,
        \.amount,
        \.bytes,
        \.weight,
        \.voyage,
        rows: rows.map { ($0.0, $0.1, $0.2, $0.3, $0.4) }
      )
      return "batch of \(result.insertedCount)"
    case 1:
      let result = try context.batchUpdate(
        Expense.self,
        where: #Predicate { $0.amount > limit },
        .add(1, to: \.amount),
        .set(\.weight, to: 0.75),
        .change(\.tax) { $0.map { $0 / 2 } }
      )
      return "batch update of \(result.updatedCount)"
    case 2:
      let result = try context.batchUpdate(
        Expense.self,
        where: #Predicate { $0.amount < limit },
        .set(\.voyage, to: voyage)
      )
      return "batch move of \(result.updatedCount)"
    case 3:
      let result = try context.batchDelete(
        Expense.self,
        where: #Predicate { $0.amount == limit },
        commitEvery: 2
      )
      return "batch delete of \(result.deletedCount)"
    default:
      let names = (0..<3).map { _ in "É\(Int.random(in: 0...(serial + 3), using: &chance))" }
      let result = try context.batchUpdate(
        Voyage.self,
        where: #Predicate { $0.expenseCount > 1 },
        .set(\.notes, to: names.joined())
      )
      return "batch rename of \(result.updatedCount)"
    }
  }
}
