import SwiftData
import Testing

/// A model with more properties than a set of columns has marks: from the 63rd on they share one.
@Model
private final class Wide {
  var n0 = 0
  var n1 = 0
  var n2 = 0
  var n3 = 0
  var n4 = 0
  var n5 = 0
  var n6 = 0
  var n7 = 0
  var n8 = 0
  var n9 = 0
  var n10 = 0
  var n11 = 0
  var n12 = 0
  var n13 = 0
  var n14 = 0
  var n15 = 0
  var n16 = 0
  var n17 = 0
  var n18 = 0
  var n19 = 0
  var n20 = 0
  var n21 = 0
  var n22 = 0
  var n23 = 0
  var n24 = 0
  var n25 = 0
  var n26 = 0
  var n27 = 0
  var n28 = 0
  var n29 = 0
  var n30 = 0
  var n31 = 0
  var n32 = 0
  var n33 = 0
  var n34 = 0
  var n35 = 0
  var n36 = 0
  var n37 = 0
  var n38 = 0
  var n39 = 0
  var n40 = 0
  var n41 = 0
  var n42 = 0
  var n43 = 0
  var n44 = 0
  var n45 = 0
  var n46 = 0
  var n47 = 0
  var n48 = 0
  var n49 = 0
  var n50 = 0
  var n51 = 0
  var n52 = 0
  var n53 = 0
  var n54 = 0
  var n55 = 0
  var n56 = 0
  var n57 = 0
  var n58 = 0
  var n59 = 0
  var n60 = 0
  var n61 = 0
  var n62 = 0
  var n63 = 0
  var n64 = 0
  var n65 = 0
  var n66 = 0

  init() {}
}

@Suite struct `Properties that share a mark` {
  let container: ModelContainer
  let first: ModelContext
  let second: ModelContext

  init() throws {
    var configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    configuration.mergePolicy = .throw
    container = try ModelContainer(for: Wide.self, configurations: configuration)
    first = ModelContext(container)
    second = ModelContext(container)
    let writer = ModelContext(container)
    writer.insert(Wide())
    try writer.save()
  }

  private func wide(_ context: ModelContext) throws -> Wide {
    try #require(try context.fetch(FetchDescriptor<Wide>()).first)
  }

  private func conflicts(_ context: ModelContext) throws -> [String] {
    do {
      try context.save()
      return []
    } catch let error as SwiftDataError {
      return try #require(error.underlyingError as? MergeConflicts).conflicts.map(\.property)
    }
  }

  @Test(arguments: [MergePolicy.throw, .lastWriter, .keepStored])
  func `do not meet each other`(policy: MergePolicy) throws {
    first.mergePolicy = policy
    second.mergePolicy = policy
    let mine = try wide(first)
    #expect(mine.n65 == 0)
    mine.n64 = 1
    try wide(second).n65 = 2
    try second.save()
    try first.save()
    let stored = try wide(ModelContext(container))
    #expect(stored.n64 == 1 && stored.n65 == 2 && stored.n66 == 0)
    #expect(mine.n65 == 2)
  }

  @Test func `are compared one by one`() throws {
    let mine = try wide(first)
    mine.n64 = 1
    mine.n65 = 1
    let theirs = try wide(second)
    theirs.n65 = 2
    theirs.n66 = 2
    try second.save()
    #expect(try conflicts(first) == ["n65"])
    try first.save(mergePolicy: .keepStored)
    let stored = try wide(ModelContext(container))
    #expect(stored.n64 == 1 && stored.n65 == 2 && stored.n66 == 2)
    #expect(mine.n65 == 2 && mine.n66 == 2)
  }

  @Test func `are added to, whatever is set beside`() throws {
    let mine = try wide(first)
    let theirs = try wide(second)
    mine.n64 = 7
    mine.add(1, to: \.n65)
    theirs.add(10, to: \.n65)
    theirs.n66 = 8
    try second.save()
    try first.save()
    let stored = try wide(ModelContext(container))
    #expect(stored.n64 == 7 && stored.n65 == 11 && stored.n66 == 8)
  }
}
