import Foundation
import ModelRuntime
import SwiftData
import Testing

@testable import LogStore

@Suite struct `A predicate that is made of others` {
  private let context: ModelContext

  init() throws {
    let container = try ModelContainer(
      for: Depot.self,
      Crate.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    for number in 0..<2000 { context.insert(Depot(number)) }
    try context.save()
  }

  private func numbers(_ predicate: Predicate<Depot>) throws -> [Int] {
    try context.fetch(FetchDescriptor(predicate: predicate)).map(\.number)
  }

  @Test func `finds what its parts say together, by the store`() throws {
    let low = #Predicate<Depot> { $0.number < 100 }
    let roman = #Predicate<Depot> { $0.town == "Rome" }
    let even = #Predicate<Depot> { $0.number % 2 == 0 }
    let all = Array(0..<2000)
    #expect(try numbers(low && roman) == all.filter { $0 < 100 && $0 % 4 == 1 })
    #expect(try numbers(low || roman) == all.filter { $0 < 100 || $0 % 4 == 1 })
    #expect(try numbers(!low) == all.filter { $0 >= 100 })
    #expect(
      try numbers(!(low && roman) && (even || !roman) && low)
        == all.filter { !($0 < 100 && $0 % 4 == 1) && ($0 % 2 == 0 || $0 % 4 != 1) && $0 < 100 }
    )
    let plan = try context.explain(FetchDescriptor(predicate: low && roman))
    #expect(plan.filteredBy == .store)
    #expect(plan.predicate == "number < 100 && town == \"Rome\"")
    #expect(plan.accesses.map(\.path) == [.index(["number"])])
  }

  @Test func `is put together at run time, and evaluated on objects where a part needs them`()
    throws
  {
    let parts: [Predicate<Depot>] = [
      #Predicate { $0.number > 10 }, #Predicate { $0.isRoman }, #Predicate { $0.number < 30 },
    ]
    let all = try #require(
      parts.dropFirst().reduce(parts.first) { whole, part in
        whole.map { $0 && part }
      }
    )
    #expect(try numbers(all) == [13, 17, 21, 25, 29])
    #expect(try context.explain(FetchDescriptor(predicate: all)).filteredBy == .context)
    let depot = Depot(17)
    #expect(try all.evaluate(depot))
    #expect(try !(!all).evaluate(depot))
    #expect(try (!all || parts[0]).evaluate(depot))
  }

  @Test func `counts unsaved models, and members of lists`() throws {
    let low = #Predicate<Depot> { $0.number < 3 }
    let stocked = #Predicate<Depot> { depot in depot.crates.contains { $0.label == "x" } }
    let depot = try #require(try context.fetch(FetchDescriptor(predicate: low)).last)
    let crate = Crate("x")
    context.insert(crate)
    crate.depot = depot
    #expect(try context.fetchCount(FetchDescriptor(predicate: low && stocked)) == 1)
    #expect(try context.fetchCount(FetchDescriptor(predicate: low && !stocked)) == 2)
    try context.save()
    #expect(try numbers(low && stocked) == [2])
  }

  @Test func `says that it cannot be encoded`() {
    let low = #Predicate<Depot> { $0.number < 3 }
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(_EncodedPart(low && low)) }
  }

  /// The expression of a predicate, to be encoded.
  private struct _EncodedPart: Encodable {
    let predicate: Predicate<Depot>
    init(_ predicate: Predicate<Depot>) { self.predicate = predicate }
    func encode(to encoder: any Encoder) throws { try predicate.expression.encode(to: encoder) }
  }
}
