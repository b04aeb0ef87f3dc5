import Foundation
import SwiftData
import Testing

// The snippets of the articles for those who come from elsewhere, as they are printed there.

@Model
final class Country {
  @Attribute(.unique) var code: String
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \City.country) var cities: [City] = []

  init(code: String, name: String) {
    self.code = code
    self.name = name
  }
}

@Model
final class City {
  #Index<City>([\.name])

  var name: String
  var population: Int
  var country: Country?

  init(name: String, population: Int, country: Country? = nil) {
    self.name = name
    self.population = population
    self.country = country
  }
}

struct CityRow: Codable {
  var name: String
  var population: Int
  var country: String
}

/// Writes what an app on a Mac has: this compiles against Apple's framework, too.
func export(_ context: ModelContext) throws -> Data {
  let rows = try context.fetch(FetchDescriptor<City>()).map {
    CityRow(name: $0.name, population: $0.population, country: $0.country?.code ?? "")
  }
  return try JSONEncoder().encode(rows)
}

/// Reads rows of any origin, a save for each thousand.
func importRows(_ rows: some Sequence<CityRow>, into container: ModelContainer) throws {
  let context = ModelContext(container)
  var countries: [String: Country] = [:]
  var count = 0
  for row in rows {
    let country = countries[row.country] ?? Country(code: row.country, name: row.country)
    countries[row.country] = country
    context.insert(City(name: row.name, population: row.population, country: country))
    count += 1
    if count.isMultiple(of: 1000) { try context.save() }
  }
  try context.save()
}

@Suite struct `The articles for those who come from elsewhere` {
  let container: ModelContainer
  let context: ModelContext

  init() throws {
    container = try ModelContainer(
      for: Country.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    let rows = [
      CityRow(name: "Lisbon", population: 567_000, country: "PT"),
      CityRow(name: "Porto", population: 248_000, country: "PT"),
      CityRow(name: "Bern", population: 137_000, country: "CH"),
    ]
    try importRows(rows, into: container)
  }

  @Test func `carry rows from one container to another`() throws {
    let data = try export(context)
    let other = try ModelContainer(
      for: Country.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    try importRows(try JSONDecoder().decode([CityRow].self, from: data), into: other)
    let there = ModelContext(other)
    #expect(try there.fetchCount(FetchDescriptor<City>()) == 3)
    #expect(try there.fetchCount(FetchDescriptor<Country>()) == 2)
  }

  @Test func `say what SQL says`() throws {
    // SELECT * FROM city WHERE population > 200000 ORDER BY name LIMIT 10
    var large = FetchDescriptor<City>(
      predicate: #Predicate { $0.population > 200_000 },
      sortBy: [SortDescriptor(\.name)]
    )
    large.fetchLimit = 10
    let cities = try context.fetch(large)
    #expect(cities.map(\.name) == ["Lisbon", "Porto"])

    // SELECT … FROM city JOIN country ON … WHERE country.code = 'PT'
    let portuguese = FetchDescriptor<City>(predicate: #Predicate { $0.country?.code == "PT" })
    #expect(try context.fetchCount(portuguese) == 2)

    // SELECT country.name, COUNT(*), SUM(population) FROM … GROUP BY country.name
    var sums: [String: Int] = [:]
    for (name, (count, people)) in try context.aggregate(
      FetchDescriptor<City>(),
      by: \.country?.name,
      .count,
      .sum(\.population)
    ) {
      sums[name ?? "nowhere"] = people
      #expect(count > 0)
    }
    #expect(sums == ["PT": 815_000, "CH": 137_000])

    // INSERT INTO country … ON CONFLICT (code) DO UPDATE SET name = 'Portugal'
    context.insert(Country(code: "PT", name: "Portugal"))
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Country>()) == 2)
    #expect(try context.fetchCount(portuguese) == 2)

    // DELETE FROM city WHERE population < 200000
    try context.delete(model: City.self, where: #Predicate { $0.population < 200_000 })
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<City>()) == 2)
  }

  @MainActor
  @Test func `follow results as a fetched results controller does`() throws {
    let cities = try ResultsObserver<City, String>(
      sortBy: [SortDescriptor(\.country?.code), SortDescriptor(\.name)],
      sectionBy: \.countryName,
      modelContext: container.mainContext
    )
    #expect(cities.sections?.map(\.title) == ["CH", "PT"])
  }
}

extension City {
  var countryName: String { country?.name ?? "nowhere" }
}
