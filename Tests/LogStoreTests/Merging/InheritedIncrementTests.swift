import SwiftData
import Testing

@Model class Conveyance {
  var name: String
  var mileage = 0
  var charge = 0.0

  init(_ name: String) { self.name = name }
}

@Model final class Wagon: Conveyance {
  var doors = 0

  override init(_ name: String) { super.init(name) }
}

@Suite struct `Adding to a number that a class inherits` {
  @Test func `counts what others add at the same time`() throws {
    let container = try ModelContainer(
      for: Conveyance.self,
      Wagon.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    context.insert(Wagon("first"))
    try context.save()
    let contexts = [ModelContext(container), ModelContext(container)]
    let wagons = try contexts.map { try #require(try $0.fetch(FetchDescriptor<Wagon>()).first) }
    for wagon in wagons {
      wagon.add(1, to: \.mileage)
      wagon.add(0.5, to: \.charge)
      wagon.add(2, to: \.doors)
    }
    for context in contexts { try context.save() }
    let saved = try #require(try ModelContext(container).fetch(FetchDescriptor<Wagon>()).first)
    #expect(saved.mileage == 2)
    #expect(saved.charge == 1)
    #expect(saved.doors == 4)
  }

  @Test func `names it where the sum overflows`() throws {
    let container = try ModelContainer(
      for: Conveyance.self,
      Wagon.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let wagon = Wagon("far")
    context.insert(wagon)
    wagon.mileage = .max
    try context.save()
    wagon.add(1, to: \.mileage)
    let error = #expect(throws: SwiftDataError.modelValidationFailure) { try context.save() }
    #expect("\(try #require(error))".contains("Wagon.mileage"))
  }
}
