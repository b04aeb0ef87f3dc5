public import Harness

/// A contender that answers questions about trips; each answer is a number to compare with the right one.
public struct Querying {
  public let contender: Contender
  public let settings: String
  /// The number of trips to a destination with a rating above another.
  public let count: (_ destination: String, _ rating: Int64) throws -> Int
  /// The checksums of a number of trips that start first.
  public let readEarliest: (Int) throws -> Int
  /// The checksums of a number of trips in the order of their keys, as the objects this contender makes.
  public let readFirst: (Int) throws -> Int

  public init(
    contender: Contender,
    settings: String,
    count: @escaping (String, Int64) throws -> Int,
    readEarliest: @escaping (Int) throws -> Int,
    readFirst: @escaping (Int) throws -> Int
  ) {
    self.contender = contender
    self.settings = settings
    self.count = count
    self.readEarliest = readEarliest
    self.readFirst = readFirst
  }
}
