import Foundation
import Testing

@testable import Workloads

@Suite struct `A flight` {
  private let line = """
    2013,1,1,517,515,2,830,819,11,UA,1545,N14228,EWR,IAH,227,1400,5,15,2013-01-01T10:00:00Z
    """

  @Test func `is read of a line`() throws {
    let flight = try #require(FlightRecord(line[...]))
    #expect(flight.carrier == "UA" && flight.number == 1545 && flight.tailNumber == "N14228")
    #expect(flight.origin == "EWR" && flight.destination == "IAH" && flight.distance == 1400)
    #expect(flight.departureDelay == 2 && flight.arrivalDelay == 11)
    #expect(flight.scheduled == 378_727_200)
  }

  @Test func `that was cancelled has no delays`() throws {
    let cancelled = line.replacing(",2,830,819,11,", with: ",NA,NA,819,NA,")
      .replacing("N14228", with: "NA")
    let flight = try #require(FlightRecord(cancelled[...]))
    #expect(flight.departureDelay == nil && flight.arrivalDelay == nil)
    #expect(flight.tailNumber == nil)
  }

  @Test(arguments: ["", "a,b", "2013,1,1,517"])
  func `is not made of half a line`(line: String) {
    #expect(FlightRecord(line[...]) == nil)
  }

  @Test func `comes in thousands with the sources`() throws {
    #expect(try FlightRecord.flights(in: FlightRecord.file).count >= 27_004)
  }
}

@Suite struct `A tally of delays` {
  @Test func `is the same whether flights come one by one or added up`() {
    var one = DelayTally()
    for minutes: Int64 in [5, -3, 40] { one.add("UA", minutes: minutes) }
    one.add("DL", minutes: 1)
    var other = DelayTally()
    other.add("DL", minutes: 1)
    other.add("UA", minutes: 42, flights: 3)
    #expect(one == other)
    #expect(one.checksum == other.checksum)
    other.add("DL", minutes: 1)
    #expect(one != other)
    #expect(one.checksum != other.checksum)
  }
}
