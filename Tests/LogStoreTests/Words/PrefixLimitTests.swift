import Foundation
import LogEngineTestSupport
import SwiftData
import Testing

@testable import LogStore
@testable import ModelRuntime

@Model private final class Avenue {
  #Index<Avenue>([\.name])
  var name: String

  init(_ name: String) { self.name = name }
}

@Suite struct `The first texts of many that begin alike` {
  private let context: ModelContext

  init() throws {
    let container = try ModelContainer(
      for: Avenue.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    for number in 0..<3000 {
      context.insert(Avenue(number % 20 == 0 ? "North \(number)" : "Southern road \(number)"))
    }
    try context.save()
    // From then on there is an index of words.
    for _ in 0...WordIndex.scansBeforeIndex {
      _ = try access(FetchDescriptor(predicate: #Predicate { $0.name.contains("nothing") }))
    }
  }

  private func access(_ descriptor: FetchDescriptor<Avenue>) throws -> QueryPlan.TableAccess {
    try #require(try context.explain(descriptor).accesses.first)
  }

  private func descriptor(
    _ prefix: String,
    isSorted: Bool,
    limit: Int
  ) -> FetchDescriptor<Avenue> {
    var descriptor = FetchDescriptor<Avenue>(
      predicate: #Predicate { $0.name.starts(with: prefix) },
      sortBy: isSorted ? [SortDescriptor(\.name, comparator: .lexical)] : []
    )
    descriptor.fetchLimit = limit
    return descriptor
  }

  @Test(arguments: [false, true])
  func `are found without naming the others`(isSorted: Bool) throws {
    let descriptor = descriptor("North", isSorted: isSorted, limit: 5)
    let access = try access(descriptor)
    #expect(access.path != .words(["name"]))
    #expect(access.readRowCount <= 120, "\(access)")
    let all = (0..<150).map { "North \(20 * $0)" }
    let expected = isSorted ? all.sorted() : all
    #expect(try context.fetch(descriptor).map(\.name) == Array(expected.prefix(5)))
  }

  @Test func `are looked up by their words if the index does not tell them apart`() throws {
    // The first eight bytes are those of half of all texts.
    let descriptor = descriptor("Southern road 77", isSorted: true, limit: 5)
    let access = try access(descriptor)
    #expect(access.path == .words(["name"]))
    let names = ["", "0", "1"].map { "Southern road 77\($0)" }
    #expect(try context.fetch(descriptor).map(\.name).prefix(3) == names[...])
  }
}
