import Harness

/// A store that keeps cities and their visits.
protocol RelationStore: AnyObject {
  var contender: Contender { get }
  var settings: String { get }

  /// Makes cities, and visits of them in turn.
  func fill(cities: Int, visits: Int) throws
  /// The number of visits of a city, asked for by the city's name.
  func countVisits(ofCityNamed name: String) throws -> Int
  /// The number of cities that have a visit with a rating.
  func countCities(ratedAt rating: Int) throws -> Int
  /// The lengths of the names of the cities of a number of visits, all of them made objects.
  func traverse(_ count: Int) throws -> Int
  /// Makes a city with a number of visits, which later calls work on.
  func makeCrowdedCity(_ count: Int) throws
  /// Moves its visits to a new city, which takes its place.
  func moveVisits() throws
  /// Deletes the city; its visits stay.
  func deleteCrowdedCity() throws
  /// Makes a journal with a number of entries.
  func makeJournal(_ count: Int) throws
  /// Deletes the journal with its entries.
  func deleteJournal() throws
  /// Makes a number of cities with a visit each.
  func makeQuietCities(_ count: Int) throws
  /// Deletes these cities; their visits stay.
  func deleteQuietCities() throws
  /// Makes a number of journals with an entry each.
  func makeShortJournals(_ count: Int) throws
  /// Deletes these journals with their entries.
  func deleteShortJournals() throws
}
