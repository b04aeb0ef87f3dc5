import Foundation
import SwiftData

/// A parcel on its way.
@Model final class Parcel {
  var route: String
  var weight: Int
  var price: Double
  var sent: Date
  /// The number of the batch that brought it; 0 for parcels that stay.
  var batch: Int

  init(_ values: Parcels.Values) { (route, weight, price, sent, batch) = values }
}

/// An account that its address tells apart.
@Model final class Account {
  @Attribute(.unique) var address: String
  var name: String
  var visits: Int

  init(address: String, name: String, visits: Int) {
    (self.address, self.name, self.visits) = (address, name, visits)
  }
}

/// The parcels of a batch: values of a formula, the same for every contender.
struct Parcels: Sequence {
  typealias Values = (String, Int, Double, Date, Int)

  let batch: Int
  let count: Int

  func makeIterator() -> some IteratorProtocol<Values> {
    (0..<count).lazy.map { [batch] index in
      let mixed = (index &+ batch &* 7_777_777) &* 2_654_435_761 & 0xFFFF_FFFF
      return (
        routes[mixed % 10], mixed % 30_000, Double(mixed % 100_000) / 100,
        Date(timeIntervalSinceReferenceDate: Double(mixed)), batch
      )
    }
    .makeIterator()
  }
}

private let routes = (0..<10).map { "route \($0)" }

/// The accounts of an upsert: half of them are known already.
func addresses(of round: Int, _ count: Int) -> [(String, String, Int)] {
  (0..<count).map { number in
    let isKnown = number % 2 == 0
    return ("\(isKnown ? "known" : "new \(round)") \(number)@example.org", "name \(round)", round)
  }
}

/// A store that changes many rows at once.
protocol BatchStore {
  /// Inserts parcels, in one transaction.
  func insert(_ parcels: Parcels) throws
  /// Adds to the weight of the parcels of two routes, in one transaction; returns their number.
  func update() throws -> Int
  /// Inserts accounts, or changes those that have the address, in one transaction.
  func upsert(_ accounts: [(String, String, Int)]) throws
  /// Deletes the parcels of a batch, in one transaction; returns their number.
  func delete(batch: Int) throws -> Int
  /// The number of parcels, the sum of their weights, and the number of accounts.
  func check() throws -> [Int]
}
