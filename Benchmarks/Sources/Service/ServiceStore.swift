import Harness

/// A store that keeps readings, and answers the questions of a service; sums of checksums are the answers.
protocol ServiceStore: AnyObject {
  var contender: Contender { get }
  var settings: String { get }

  /// The readings from a moment on, the oldest first.
  func nextPage(from: Double, limit: Int) throws -> Int
  /// The readings before a moment, the newest first.
  func previousPage(before: Double, limit: Int) throws -> Int
  /// The readings of one device before a moment, the newest first.
  func newest(of serial: String, before: Double, limit: Int) throws -> Int
  /// The number of readings of one device between two moments.
  func count(of serial: String, from: Double, to: Double) throws -> Int
  /// The readings from a place in the order of their moments on.
  func page(offset: Int, limit: Int) throws -> Int
  /// The readings from a place in the order in which they were saved on.
  func unsortedPage(offset: Int, limit: Int) throws -> Int
  /// The readings of a moment, and those of one device at another.
  func readings(at: Double, or serial: String, at other: Double) throws -> Int
  /// The moments and the values of one device's readings between two moments: the sum of ``ReadingRecord/valueSum(_:_:)``.
  func values(of serial: String, from: Double, to: Double) throws -> Int
  /// Any readings of one device, of one state of three.
  func some(inState state: String, limit: Int) throws -> Int
  /// Looks devices up by their serial numbers and makes those that are missing, in one transaction.
  ///
  /// Returns the number of devices made.
  func findOrCreate(_ serials: [String]) throws -> Int
}
