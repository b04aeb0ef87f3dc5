import Harness

/// Somebody who keeps cities and their visits.
protocol RelationStore: AnyObject {
  var contender: Contender { get }
  var settings: String { get }

  /// Makes cities, and visits of them in turn.
  func fill(cities: Int, visits: Int) throws
  /// How many visits a city has, asked for by the city's name.
  func countVisits(ofCityNamed name: String) throws -> Int
  /// How many cities have a visit with a rating.
  func countCities(ratedAt rating: Int) throws -> Int
  /// The lengths of the names of the cities of so many visits, all of them made objects.
  func traverse(_ count: Int) throws -> Int
  /// Makes a city with so many visits, which later calls work on.
  func makeCrowdedCity(_ count: Int) throws
  /// Moves its visits to a new city, and that one takes its place.
  func moveVisits() throws
  /// Deletes the city; its visits stay.
  func deleteCrowdedCity() throws
  /// Makes a journal with so many entries.
  func makeJournal(_ count: Int) throws
  /// Deletes the journal with its entries.
  func deleteJournal() throws
  /// Makes so many cities with a visit each.
  func makeQuietCities(_ count: Int) throws
  /// Deletes these cities; their visits stay.
  func deleteQuietCities() throws
  /// Makes so many journals with an entry each.
  func makeShortJournals(_ count: Int) throws
  /// Deletes these journals with their entries.
  func deleteShortJournals() throws
}
