import Foundation
import ModelRuntime
import Testing

enum Parking {
  @Model final class Garage {
    var number: Int
    @Relationship(inverse: \Vehicle.garage) var vehicles: [Vehicle] = []

    init(_ number: Int) { self.number = number }
  }

  @Model class Vehicle {
    var number: Int
    var garage: Garage?

    init(_ number: Int) { self.number = number }
  }

  @Model final class Car: Vehicle {
    var doors: Int = 4

    override init(_ number: Int) { super.init(number) }
  }
}

enum Publishing {
  @Model final class Press {
    var name: String

    init(_ name: String) { self.name = name }
  }

  @Model final class Leaflet {
    var press: Press?
    var copiers: [Press] = []

    init(_ press: Press) {
      self.press = press
      copiers = [press]
    }
  }
}

@Suite struct `Prefetching relationships` {
  @Test func `asks the store once for all of them`() throws {
    let configuration = MemoryStore.Configuration()
    let container = try ModelContainer(
      for: Schema([Author.self, Book.self, Chapter.self, Reader.self]),
      configurations: [configuration]
    )
    let context = ModelContext(container)
    for number in 0..<20 {
      context.insert(Book(title: "\(number)", author: Author(name: "author \(number)")))
    }
    try context.save()

    func requests(prefetching keyPaths: [PartialKeyPath<Book>]) throws -> Int {
      let other = ModelContext(container)
      var descriptor = FetchDescriptor<Book>()
      descriptor.relationshipKeyPathsForPrefetching = keyPaths
      let before = configuration.archive.fetchCount
      let books = try other.fetch(descriptor)
      #expect(Set(books.compactMap { $0.author?.name }).count == 20)
      return configuration.archive.fetchCount - before
    }
    // The store refuses predicates, so asking it for rows by identifier takes two requests.
    #expect(try requests(prefetching: []) == 41)
    #expect(try requests(prefetching: [\.author]) == 3)
  }

  @Test func `asks once, too, for what a superclass has declared`() throws {
    let configuration = MemoryStore.Configuration()
    let container = try ModelContainer(
      for: Schema([Parking.Garage.self, Parking.Vehicle.self, Parking.Car.self]),
      configurations: [configuration]
    )
    let context = ModelContext(container)
    for number in 0..<20 {
      let car = Parking.Car(number)
      context.insert(car)
      car.garage = Parking.Garage(number)
    }
    try context.save()
    let other = ModelContext(container)
    var descriptor = FetchDescriptor<Parking.Car>()
    descriptor.relationshipKeyPathsForPrefetching = [\.garage]
    let before = configuration.archive.fetchCount
    let cars = try other.fetch(descriptor)
    #expect(Set(cars.compactMap { $0.garage?.number }).count == 20)
    #expect(configuration.archive.fetchCount - before == 3)
  }

  enum End: CaseIterable { case one, many }

  @Test(arguments: End.allCases)
  func `asks once, too, for what a relationship without an inverse leads to`(end: End) throws {
    let configuration = MemoryStore.Configuration()
    let container = try ModelContainer(
      for: Schema([Publishing.Leaflet.self]),
      configurations: [configuration]
    )
    let context = ModelContext(container)
    let presses = (0..<20).map { Publishing.Press("\($0)") }
    for press in presses { context.insert(Publishing.Leaflet(press)) }
    context.insert(Publishing.Leaflet(presses[0]))
    try context.save()
    context.delete(presses[19])
    try context.save()
    let other = ModelContext(container)
    var descriptor = FetchDescriptor<Publishing.Leaflet>()
    descriptor.relationshipKeyPathsForPrefetching = end == .one ? [\.press] : [\.copiers]
    let before = configuration.archive.fetchCount
    let leaflets = try other.fetch(descriptor)
    let found = leaflets.map { leaflet in
      end == .one ? leaflet.press.map { [$0] } ?? [] : leaflet.copiers
    }
    #expect(Set(found.joined().map(\.name)).count == 19)
    // What is gone is not looked for again.
    #expect(found.count { $0.isEmpty } == 1)
    #expect(configuration.archive.fetchCount - before == 3)
  }

  @Test func `does not keep the context alive, nor what it found for ever`() throws {
    let container = try makeLibrary()
    let context = ModelContext(container)
    context.insert(Book(title: "1", author: Author(name: "Calvino")))
    try context.save()
    weak var other: ModelContext?
    do {
      let own = ModelContext(container)
      var descriptor = FetchDescriptor<Book>()
      descriptor.relationshipKeyPathsForPrefetching = [\.author]
      #expect(try own.fetch(descriptor).count == 1)
      other = own
    }
    #expect(other == nil)
  }
}
