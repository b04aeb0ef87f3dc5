import Foundation
import ModelRuntime
import SwiftData
import Testing

@testable import LogStore

@Model class Parcel {
  var weight: Double = 0
  var sender: Office?
  var receiver: Office?

  init(weight: Double) { self.weight = weight }
}

@Model final class Letter: Parcel {
  var isRegistered = false

  init(isRegistered: Bool) {
    self.isRegistered = isRegistered
    super.init(weight: 0)
  }
}

@Model final class Office {
  var town: String

  init(town: String) { self.town = town }
}

@Suite struct `A plan for a fetch` {
  private let ids = (0..<4).map { Parcel(weight: Double($0)).persistentModelID }

  private func plan(_ predicate: Predicate<Parcel>) throws -> String {
    words(CandidatePlan(try QueryExpression(predicate), TextHash(low: 1, high: 2)))
  }

  private func words(_ plan: CandidatePlan) -> String {
    switch plan {
    case .rows(let identifiers): "rows \(positions(of: identifiers))"
    case .referring(let property, let identifiers): "\(property.name) \(positions(of: identifiers))"
    case .joining(let test, let lookups, let isComplete):
      words(test)
        + (lookups.isEmpty ? "" : ", columns \(lookups.map(\.column.number))")
        + (isComplete ? "" : ", and more")
    case .values(let lookups, let isComplete):
      "values of columns \(lookups.map(\.column.number))\(isComplete ? "" : ", and more")"
    case .either(let plans, let lookups, let isComplete):
      plans.map(words).joined(separator: " or ")
        + (lookups.isEmpty ? "" : ", all of columns \(lookups.map(\.column.number))")
        + (isComplete ? "" : ", and something besides")
    case .scan: "scan"
    }
  }

  private func words(_ test: CandidatePlan.JoinTest) -> String {
    switch test {
    case .target(let target): "\(target.property.name) of \(target.destination.entityName)"
    case .member(let member): "members of \(member.property.name)"
    }
  }

  private func positions(of identifiers: Set<PersistentIdentifier>) -> [Int] {
    ids.indices.filter { identifiers.contains(ids[$0]) }
  }

  @Test func `looks rows up that are asked for by name`() throws {
    let (a, b) = (ids[0], ids[1])
    let few = Set(ids[1...2])
    #expect(try plan(#Predicate { $0.persistentModelID == a }) == "rows [0]")
    #expect(try plan(#Predicate { b == $0.id }) == "rows [1]")
    #expect(try plan(#Predicate { few.contains($0.persistentModelID) }) == "rows [1, 2]")
    #expect(try plan(#Predicate { $0.id == a || few.contains($0.id) }) == "rows [0, 1, 2]")
    #expect(try plan(#Predicate { $0.id == b && few.contains($0.id) }) == "rows [1]")
    #expect(try plan(#Predicate { $0.id == a && few.contains($0.id) }) == "rows []")
  }

  @Test func `narrows by one condition and leaves the others to the test of each row`() throws {
    let a = ids[0]
    let office = ids[3]
    #expect(try plan(#Predicate { $0.weight > 1 && $0.id == a }) == "rows [0]")
    #expect(
      try plan(#Predicate { $0.sender?.persistentModelID == office && $0.id == a }) == "rows [0]"
    )
  }

  @Test func `follows references backwards`() throws {
    let office = ids[3]
    let offices = Array(ids[2...3])
    #expect(try plan(#Predicate { $0.sender?.persistentModelID == office }) == "sender [3]")
    #expect(
      try plan(
        #Predicate { $0.receiver.flatMap { offices.contains($0.persistentModelID) } ?? false }
      ) == "receiver [2, 3]"
    )
    #expect(
      try plan(#Predicate { $0.sender?.id == office || $0.sender?.id == office }) == "sender [3]"
    )
  }

  @Test func `looks for rows at the other end first, where a test is about those`() throws {
    let towns = ["Rome", "Oslo"]
    #expect(try plan(#Predicate { $0.sender?.town == "Rome" }) == "sender of Office")
    #expect(
      try plan(#Predicate { $0.sender.flatMap { towns.contains($0.town) } ?? false })
        == "sender of Office"
    )
    #expect(
      try plan(#Predicate { $0.sender.flatMap { $0.town == "Rome" || $0.town == "Oslo" } == true })
        == "sender of Office"
    )
    #expect(try plan(#Predicate { ($0.sender?.town == "Rome") == true }) == "sender of Office")
    #expect(
      try plan(#Predicate { $0.sender.flatMap { _ in towns.contains("Rome") } ?? false }) == "scan"
    )
    #expect(
      try plan(#Predicate { $0.sender?.town == "Rome" || $0.sender?.town == "Oslo" })
        == "sender of Office"
    )
    #expect(
      try plan(#Predicate { $0.weight > 1 && $0.sender?.town == "Rome" })
        == "sender of Office, columns [0], and more"
    )
    #expect(
      try plan(#Predicate { $0.sender?.town == "Rome" && $0.receiver?.town == "Oslo" })
        == "sender of Office, and more"
    )
    // Rows that refer to nothing match, too.
    #expect(try plan(#Predicate { $0.sender?.town == nil }) == "scan")
    #expect(try plan(#Predicate { $0.sender?.town != "Rome" }) == "scan")
  }

  @Test func `looks for the rows of each of several alternatives`() throws {
    let a = ids[0]
    let office = ids[3]
    #expect(
      try plan(#Predicate { $0.sender?.town == "Rome" || $0.receiver?.town == "Rome" })
        == "sender of Office or receiver of Office"
    )
    #expect(
      try plan(#Predicate { $0.id == a || $0.weight > 1 }) == "rows [0] or values of columns [0]"
    )
    #expect(
      try plan(#Predicate { $0.sender?.id == office || $0.receiver?.id == office })
        == "sender [3] or receiver [3]"
    )
    #expect(
      try plan(
        #Predicate { $0.weight < 1 || $0.sender?.town == "Rome" || $0.weight > 9 || $0.id == a }
      ) == "values of columns [0] or sender of Office or rows [0]"
    )
    #expect(
      try plan(#Predicate { $0.weight > 1 && ($0.sender?.id == office || $0.id == a) })
        == "sender [3] or rows [0], all of columns [0], and something besides"
    )
    #expect(
      try plan(
        #Predicate { $0.weight > 1 && ($0.sender?.id == office || $0.id == a) || $0.id == a }
      )
        == "sender [3] or rows [0]"
    )
    #expect(try plan(#Predicate { $0.weight > 1 || $0.weight != 5 || $0.id == a }) == "scan")
  }

  @Test func `scans when any row can match`() throws {
    let a = ids[0]
    let none: PersistentIdentifier? = nil
    #expect(try plan(#Predicate { $0.id != a }) == "scan")
    #expect(try plan(#Predicate { !($0.id == a) }) == "scan")
    #expect(try plan(#Predicate { $0.id == a || $0.weight != 1 }) == "scan")
    #expect(try plan(#Predicate { $0.sender?.id == none }) == "scan")
    #expect(
      try plan(#Predicate { $0.receiver.flatMap { $0.persistentModelID == a } ?? true }) == "scan"
    )
  }

  @Test func `may look up values of attributes, all that must hold`() throws {
    let office = ids[3]
    #expect(try plan(#Predicate { $0.weight > 1 }) == "values of columns [0]")
    #expect(try plan(#Predicate { 1 < $0.weight && $0.weight < 2 }) == "values of columns [0, 0]")
    #expect(try plan(#Predicate { $0.weight == 1 || $0.weight == 2 }) == "values of columns [0]")
    let (low, high) = (1.0, 2.0)
    let either = #Predicate<Parcel> { $0.weight < low || ($0.weight > low && $0.weight < high) }
    #expect(try plan(either) == "values of columns [0]")
    #expect(try plan(#Predicate { [1, 2].contains($0.weight) }) == "values of columns [0]")
    #expect(try plan(#Predicate { $0.weight != 1 }) == "scan")
    #expect(
      try plan(#Predicate { $0.weight == 1 && $0.sender?.persistentModelID == office })
        == "sender [3]"
    )
  }

  @Test func `looks nowhere when nothing can match`() throws {
    #expect(try plan(.false) == "rows []")
    #expect(try plan(.true) == "scan")
  }

  @Test func `leaves out tables of classes that are not asked for`() throws {
    let parcels = ModelDescriptor.of(Parcel.self)
    let letters = ModelDescriptor.of(Letter.self)
    for predicate: Predicate<Parcel> in [
      #Predicate { $0 is Letter },
      #Predicate { $0 is Letter && $0.weight > 1 },
      #Predicate { ($0 as? Letter)?.isRegistered == true },
      #Predicate { if let letter = $0 as? Letter { letter.isRegistered } else { false } },
    ] {
      let expression = try QueryExpression(predicate)
      #expect(!expression.canMatch(rowsOf: parcels))
      #expect(expression.canMatch(rowsOf: letters))
    }
    for predicate: Predicate<Parcel> in [
      #Predicate { !($0 is Letter) },
      #Predicate { $0 is Letter || $0.weight > 1 },
      #Predicate { if let letter = $0 as? Letter { letter.isRegistered } else { true } },
    ] {
      #expect(try QueryExpression(predicate).canMatch(rowsOf: parcels))
    }
  }
}
