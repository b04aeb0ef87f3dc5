import LogStore
import SwiftData
import Testing

private enum Household {
  @Model final class User {
    var name: String
    var profile: Profile?
    var settings: Settings?
    init(_ name: String) { self.name = name }
  }

  @Model final class Profile {
    @Relationship(inverse: \User.profile) var user: User?
    init() {}
  }

  @Model final class Settings {
    @Relationship(inverse: \User.settings) var user: User?
    init() {}
  }

  @Model final class Tenant {
    @Attribute(.unique) var code: Int
    var home: Address?
    var work: Address?
    init(_ code: Int) { self.code = code }
  }

  @Model final class Address {
    var number: Int
    @Relationship(inverse: \Tenant.home) var resident: Tenant?
    @Relationship(inverse: \Tenant.work) var worker: Tenant?
    init(_ number: Int) { self.number = number }
  }
}

private enum Motorpool {
  /// A class whose ends of one-to-ones share a mark.
  @Model final class Garage: WideBase {
    var n62 = 0
    var first: Van?
    var second: Van?
    var text = "kept"

    required init() { super.init() }
  }

  @Model final class Van {
    var number: Int
    @Relationship(inverse: \Garage.first) var front: Garage?
    @Relationship(inverse: \Garage.second) var back: Garage?
    init(_ number: Int) { self.number = number }
  }
}

private typealias User = Household.User
private typealias Tenant = Household.Tenant
private typealias Address = Household.Address
private typealias Garage = Motorpool.Garage
private typealias Van = Motorpool.Van

@Suite struct `Batches that set several one-to-one relationships` {
  private let container: ModelContainer
  private let context: ModelContext

  init() throws {
    container = try ModelContainer(
      for: User.self,
      Household.Profile.self,
      Household.Settings.self,
      Tenant.self,
      Address.self,
      WideBase.self,
      Garage.self,
      Van.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
  }

  private func insert(_ models: any PersistentModel...) throws {
    for model in models { context.insert(model) }
    try context.save()
  }

  /// The homes and places of work that tenants have, and the same as the addresses have it.
  private func expectTenants(
    homes: [Int: Int],
    works: [Int: Int],
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let fresh = ModelContext(container)
    var (found, inverse): ([[Int: Int]], [[Int: Int]]) = ([[:], [:]], [[:], [:]])
    for tenant in try fresh.fetch(FetchDescriptor<Tenant>()) {
      found[0][tenant.code] = tenant.home?.number
      found[1][tenant.code] = tenant.work?.number
    }
    for address in try fresh.fetch(FetchDescriptor<Address>()) {
      if let code = address.resident?.code { inverse[0][code] = address.number }
      if let code = address.worker?.code { inverse[1][code] = address.number }
    }
    #expect(found == [homes, works], sourceLocation: location)
    #expect(inverse == [homes, works], sourceLocation: location)
  }

  @Test func `take all of them from the row that had them`() throws {
    let (a, b) = (User("A"), User("B"))
    let (profile, settings) = (Household.Profile(), Household.Settings())
    a.profile = profile
    a.settings = settings
    try insert(a, b)
    try context.batchUpdate(
      User.self,
      where: #Predicate { $0.name == "B" },
      .set(\.profile, to: profile),
      .set(\.settings, to: settings)
    )
    let users = try ModelContext(container).fetch(
      FetchDescriptor<User>(sortBy: [SortDescriptor(\.name)])
    )
    #expect(users.map { $0.profile != nil } == [false, true])
    #expect(users.map { $0.settings != nil } == [false, true])
    #expect(users[1].profile?.user?.name == "B" && users[1].settings?.user?.name == "B")
    #expect(profile.user === b && settings.user === b && a.profile == nil && a.settings == nil)
  }

  @Test func `write a row once that is at several ends`() throws {
    let addresses = (0..<3).map { Address($0) }
    try insert(addresses[0], addresses[1], addresses[2])
    typealias Row = (Int, Address?, Address?)
    let new: [Row] = [(1, addresses[0], addresses[0]), (2, addresses[1], addresses[2])]
    try context.batchInsert(Tenant.self, \.code, \.home, \.work, rows: new)
    try expectTenants(homes: [1: 0, 2: 1], works: [1: 0, 2: 2])
    let changed: [Row] = [(2, addresses[0], addresses[0]), (3, addresses[1], nil)]
    try context.batchUpsert(Tenant.self, \.code, \.home, \.work, rows: changed)
    try expectTenants(homes: [2: 0, 3: 1], works: [2: 0])
    try context.batchUpdate(Tenant.self, .set(\.home, to: nil), .set(\.work, to: nil))
    try expectTenants(homes: [:], works: [:])
  }

  @Test func `write all ends of a row that share a mark`() throws {
    let garage = Garage()
    try insert(garage)
    let rows: [(Int, Garage?, Garage?)] = [(1, garage, nil), (2, nil, garage)]
    try context.batchInsert(Van.self, \.number, \.front, \.back, rows: rows)
    let read = try #require(try ModelContext(container).fetch(FetchDescriptor<Garage>()).first)
    #expect(read.first?.number == 1 && read.second?.number == 2 && read.text == "kept")
    try context.batchUpdate(
      Van.self,
      where: #Predicate { $0.number == 2 },
      .set(\.front, to: garage),
      .set(\.back, to: nil)
    )
    let vans = try ModelContext(container).fetch(
      FetchDescriptor<Van>(sortBy: [SortDescriptor(\.number)])
    )
    #expect(vans.map { $0.front != nil } == [false, true] && vans.allSatisfy { $0.back == nil })
    #expect(vans[1].front?.first === vans[1] && vans[1].front?.second == nil)
  }
}
