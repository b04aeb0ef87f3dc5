import JSONStore
import SwiftData
import Testing

private enum Loose {
  @Model final class Crate {
    var number: Int
    var weight: Int?
    var grade: CrateGrade?
    var marks: [String]?
    init(_ number: Int) { self.number = number }
  }
}

private enum Strict {
  @Model final class Crate {
    var number: Int
    var weight: Int = 5
    var grade: CrateGrade = CrateGrade.second
    var marks: [String] = ["none"]
    init(_ number: Int) { self.number = number }
  }
}

private enum CrateGrade: String, Codable { case first, second }

@Suite struct `A value that is nil in an archive` {
  @Test func `is the default of a property that may not be nil`() throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "crates.json")
    func open(_ type: any PersistentModel.Type) throws -> ModelContext {
      ModelContext(
        try ModelContainer(
          for: Schema([type]),
          configurations: [JSONStoreConfiguration(name: "crates", url: file)]
        )
      )
    }
    do {
      let context = try open(Loose.Crate.self)
      let crate = Loose.Crate(2)
      crate.weight = 2
      crate.grade = .first
      crate.marks = ["a"]
      context.insert(Loose.Crate(1))
      context.insert(crate)
      try context.save()
    }
    let crates = try open(Strict.Crate.self)
      .fetch(FetchDescriptor<Strict.Crate>(sortBy: [.init(\.number)]))
    #expect(crates.map(\.weight) == [5, 2])
    #expect(crates.map(\.grade) == [.second, .first])
    #expect(crates.map(\.marks) == [["none"], ["a"]])
  }
}
