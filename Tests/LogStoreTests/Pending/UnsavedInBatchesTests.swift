import Foundation
import LogStore
import SwiftData
import Testing

@Suite struct `Unsaved models that are loaded in batches` {
  let context: ModelContext
  let sorted = FetchDescriptor<Consignment>(sortBy: [SortDescriptor(\.code)])

  init() throws {
    context = ModelContext(
      try ModelContainer(
        for: Consignment.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
      )
    )
  }

  private func insert(_ codes: Range<Int>, weight: Int = 1) {
    for code in codes { context.insert(Consignment(code, weight: weight, city: "Bonn")) }
  }

  @Test(arguments: [1, 4, 10, 20], [false, true])
  func `are visited once each, also when the block saves`(batchSize: Int, isSorted: Bool) throws {
    insert(0..<10)
    var codes: [Int] = []
    try context.enumerate(
      isSorted ? sorted : FetchDescriptor<Consignment>(),
      batchSize: batchSize,
      allowEscapingMutations: true
    ) {
      codes.append($0.code)
      $0.weight = 2
      try context.save()
    }
    #expect(codes == Array(0..<10))
    let fresh = ModelContext(context.container)
    #expect(try fresh.fetch(sorted).map(\.weight) == Array(repeating: 2, count: 10))
  }

  @Test func `are left out when they are deleted or rolled back meanwhile`() throws {
    insert(0..<6)
    let all = try context.fetch(sorted)
    var codes: [Int] = []
    try context.enumerate(sorted, batchSize: 1, allowEscapingMutations: true) {
      codes.append($0.code)
      if $0.code == 1 {
        context.delete(all[2])
        try context.save()
        context.delete(all[3])
      }
      if $0.code == 4 { context.delete(all[5]) }
    }
    #expect(codes == [0, 1, 4])
    context.rollback()
    insert(10..<14)
    codes = []
    try context.enumerate(sorted, batchSize: 1, allowEscapingMutations: true) {
      codes.append($0.code)
      if $0.code == 10 { context.rollback() }
    }
    #expect(codes.filter { $0 >= 10 } == [10])
  }

  @Test(arguments: [false, true], [false, true])
  func `are visited once when a save merges them into stored ones`(
    isFound: Bool,
    areHeld: Bool
  ) throws {
    insert(0..<4, weight: isFound ? 1 : 0)
    try context.save()
    insert(2..<5)
    let heavy = FetchDescriptor<Consignment>(
      predicate: #Predicate { $0.weight > 0 },
      sortBy: [SortDescriptor(\.code)]
    )
    let held = areHeld ? try context.fetch(sorted) : []
    defer { withExtendedLifetime(held) {} }
    var codes: [Int] = []
    try context.enumerate(heavy, batchSize: 1, allowEscapingMutations: true) {
      codes.append($0.code)
      try context.save()
    }
    #expect(codes == (isFound ? [0, 1, 2, 3, 4] : [2, 3, 4]))
  }

  @Test func `are the saved ones in a list made before the save`() throws {
    insert(0..<50)
    let list = try context.fetch(sorted, batchSize: 20)
    try context.save()
    #expect(list.map(\.code) == Array(0..<50))
    #expect(list.allSatisfy { !$0.isDeleted && !$0.persistentModelID.isTemporary })
    #expect(list[7] === context.model(for: list[7].persistentModelID))
  }

  @Test func `are the models they were merged into in a list made before the save`() throws {
    insert(0..<3, weight: 0)
    try context.save()
    let stored = try context.fetch(sorted)
    insert(1..<5)
    let list = try context.fetch(sorted, batchSize: 2)
    #expect(list.count == 7)
    try context.save()
    #expect(list.map(\.code) == [0, 1, 1, 2, 2, 3, 4])
    #expect(list.filter { $0.code == 1 }.allSatisfy { $0 === stored[1] })
  }

  @Test func `say that they are deleted in a list made before that`() throws {
    insert(0..<3)
    let list = try context.fetch(sorted, batchSize: 2)
    context.delete(try context.fetch(sorted)[0])
    try context.save()
    #expect(list.map(\.isDeleted) == [true, false, false])
    insert(5..<6)
    let other = try context.fetch(sorted, batchSize: 1)
    context.rollback()
    #expect(other.count == 3 && other[2].isDeleted)
  }
}
