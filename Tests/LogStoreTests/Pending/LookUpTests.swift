import Foundation
import LogStore
import SwiftData
import Testing

/// Fetches that an index answers by itself, beside all that may be unsaved: each is compared with the same fetch put
/// so that it has to be planned, and with the models themselves.
@Suite struct `A fetch of models by the value of an attribute` {
  private let context: ModelContext

  init() throws {
    let container = try ModelContainer(
      for: Consignment.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    context.autosaveEnabled = false
  }

  private func models(_ predicate: Predicate<Consignment>, limit: Int?) throws -> [Consignment] {
    var descriptor = FetchDescriptor(predicate: predicate)
    descriptor.fetchLimit = limit
    return try context.fetch(descriptor)
  }

  private func check(
    _ predicate: Predicate<Consignment>,
    _ isWanted: (Consignment) -> Bool,
    _ comment: Comment
  ) throws {
    let expected = try context.fetch(FetchDescriptor<Consignment>()).filter(isWanted)
    for limit in [nil, 1, 2] {
      let found = try models(predicate, limit: limit)
      #expect(found.map(\.code) == expected.prefix(limit ?? .max).map(\.code), comment)
      let (traced, _) = try context.explain { try models(predicate, limit: limit) }
      #expect(traced == found, comment)
    }
  }

  @Test(arguments: UInt64(1)...12)
  func `finds what is saved and unsaved, in its order`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var code = 0
    func make() -> Consignment {
      code += 1
      let city = ["Bonn", "Celle", "Ulm", "Çesme", "C\u{327}esme"].randomElement(using: &random)
      return Consignment(code, weight: .random(in: 0..<40, using: &random), city: city ?? "")
    }
    for round in 0..<6 {
      let comment: Comment = "seed \(seed), round \(round)"
      for _ in 0..<Int.random(in: 0..<120, using: &random) { context.insert(make()) }
      if Bool.random(using: &random) { try context.save() }
      let all = try context.fetch(FetchDescriptor<Consignment>())
      for consignment in all {
        switch Int.random(in: 0..<25, using: &random) {
        case 0: consignment.weight = .random(in: 0..<40, using: &random)
        case 1 where round % 2 == 1: consignment.city = "Ulm"
        case 2: consignment.note = "seen"
        case 3 where round % 3 == 2: context.delete(consignment)
        default: break
        }
      }
      for _ in 0..<8 {
        let weight = Int.random(in: 0..<42, using: &random)
        try check(#Predicate { $0.weight == weight }, { $0.weight == weight }, comment)
        let code = Int.random(in: 0..<(code + 3), using: &random)
        try check(#Predicate { $0.code == code }, { $0.code == code }, comment)
        try check(
          #Predicate { $0.weight == weight && $0.city == "Ulm" },
          { $0.weight == weight && $0.city == "Ulm" },
          comment
        )
        try check(#Predicate { $0.city == "Çesme" }, { $0.city == "Çesme" }, comment)
        try check(
          #Predicate { $0.city == "Celle" && $0.note == nil },
          { $0.city == "Celle" && $0.note == nil },
          comment
        )
      }
      if Bool.random(using: &random) { context.rollback() }
    }
  }

  @Test func `finds a new model by the value it has now, and no longer by the one it had`() throws {
    let models = (0..<100).map { Consignment($0, weight: $0, city: "Bonn") }
    for model in models { context.insert(model) }
    #expect(try self.models(#Predicate { $0.code == 7 }, limit: 1) == [models[7]])
    models[7].code = 1007
    #expect(try self.models(#Predicate { $0.code == 7 }, limit: 1).isEmpty)
    #expect(try self.models(#Predicate { $0.code == 1007 }, limit: 1) == [models[7]])
    models[8].code = 1007
    models[7].code = 7
    #expect(try self.models(#Predicate { $0.code == 1007 }, limit: nil) == [models[8]])
    context.delete(models[8])
    #expect(try self.models(#Predicate { $0.code == 1007 }, limit: nil).isEmpty)
  }

  @Test(arguments: [10, 100])
  func `finds what others save, each time as it is then`(count: Int) throws {
    let other = ModelContext(context.container)
    for code in 0..<count { other.insert(Consignment(code, weight: code, city: "Bonn")) }
    try other.save()
    for round in 0..<5 {
      let weight = 1000 + round
      #expect(try models(#Predicate { $0.weight == weight }, limit: nil).isEmpty)
      let consignment = Consignment(2000 + round, weight: weight, city: "Ulm")
      other.insert(consignment)
      try other.save()
      #expect(try models(#Predicate { $0.weight == weight }, limit: nil).map(\.city) == ["Ulm"])
      consignment.weight = -1
      try other.save()
      #expect(try models(#Predicate { $0.weight == weight }, limit: nil).isEmpty)
    }
    #expect(try models(#Predicate { $0.weight == -1 }, limit: nil).count == 5)
    #expect(try models(#Predicate { $0.weight == -1 }, limit: 2).count == 2)
  }

  @Test func `tells properties of one type apart, and fetches that ask for more`() throws {
    for code in 0..<100 { context.insert(Consignment(code, weight: code / 2, city: "Bonn")) }
    try context.save()
    context.insert(Consignment(100, weight: 7, city: "Bonn"))
    let value = 7
    let byCode = #Predicate<Consignment> { $0.code == value }
    let byWeight = #Predicate<Consignment> { $0.weight == value }
    for _ in 0..<3 {
      #expect(try models(byCode, limit: nil).map(\.code) == [7])
      #expect(try models(byWeight, limit: nil).map(\.code) == [14, 15, 100])
      var page = FetchDescriptor(predicate: byWeight)
      page.fetchOffset = 1
      #expect(try context.fetch(page).map(\.code) == [15, 100])
      let last = SortDescriptor(\Consignment.code, order: .reverse)
      #expect(
        try context.fetch(FetchDescriptor(predicate: byWeight, sortBy: [last])).map(\.code)
          == [100, 15, 14]
      )
    }
  }

  @Test func `remembers no more key paths than a program writes`() throws {
    for code in 0..<100 { context.insert(Consignment(code, weight: code, city: "Bonn")) }
    try context.save()
    // Each is an object of its own.
    func makeKeyPath() throws -> any KeyPath<Consignment, Int> & Sendable {
      let whole: KeyPath<Consignment, Consignment> = \.self
      let made = whole.appending(path: \Consignment.code)
      return unsafe unsafeBitCast(made, to: (any KeyPath<Consignment, Int> & Sendable).self)
    }
    for code in 0..<50 {
      let keyPath = try makeKeyPath()
      let predicate = Predicate<Consignment> {
        PredicateExpressions.build_Equal(
          lhs: PredicateExpressions.build_KeyPath(root: $0, keyPath: keyPath),
          rhs: PredicateExpressions.build_Arg(code)
        )
      }
      #expect(try models(predicate, limit: nil).map(\.code) == [code])
    }
  }

  /// The positions of such a value are kept sorted: models leave it at the front, in the middle and for a while only.
  @Test(arguments: UInt64(1)...8)
  func `finds new models by a value that many have, whatever changes`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let consignments = (0..<80).map { Consignment($0, weight: $0 % 2, city: "Bonn") }
    for consignment in consignments { context.insert(consignment) }
    for step in 0..<150 {
      for _ in 0..<Int.random(in: 0..<4, using: &random) {
        // Mostly the first ones.
        let bound = Bool.random(using: &random) ? 20 : consignments.count
        let consignment = consignments[.random(in: 0..<bound, using: &random)]
        switch Int.random(in: 0..<6, using: &random) {
        case 0: context.delete(consignment)
        case 1, 2: context.insert(consignment)
        default: consignment.weight = .random(in: 0..<2, using: &random)
        }
      }
      let all = context.insertedModelsArray.compactMap { $0 as? Consignment }
      for weight in 0..<2 {
        let limit = [nil, 1, 3].randomElement(using: &random) ?? nil
        let found = try models(#Predicate { $0.weight == weight }, limit: limit)
        let expected = all.filter { $0.weight == weight }.prefix(limit ?? .max)
        #expect(found.map(\.code) == expected.map(\.code), "seed \(seed), step \(step)")
      }
    }
  }

  @Test func `leaves new models out that it is not to include`() throws {
    for code in 0..<100 { context.insert(Consignment(code, weight: 1, city: "Bonn")) }
    try context.save()
    context.insert(Consignment(100, weight: 5, city: "Bonn"))
    var descriptor = FetchDescriptor<Consignment>(predicate: #Predicate { $0.weight == 5 })
    #expect(try context.fetch(descriptor).count == 1)
    descriptor.includePendingChanges = false
    #expect(try context.fetch(descriptor).isEmpty)
  }
}
