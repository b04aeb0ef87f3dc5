import Testing

@testable import Harness

@Suite struct `Entrants` {
  @Test func `take turns, and who goes first changes`() throws {
    var order: [Contender] = []
    func entrant(_ contender: Contender) -> Entrant {
      Entrant(.scan, contender, settings: "") {
        order.append(contender)
        return Sample([.milliseconds: 1])
      }
    }
    let standings = try RoundRobin(rounds: 2, [entrant(.floor), entrant(.engine)]).run()
    #expect(order == [.floor, .engine, .engine, .floor, .floor, .engine])
    #expect(standings.flatMap { $0.measurements(in: nil) }.map(\.runs) == [2, 2])
  }

  @Test func `begin no further round when their time is over, but run three`() throws {
    var turns = 0
    let entrant = Entrant(.scan, .engine, settings: "") {
      turns += 1
      return Sample([.milliseconds: 1])
    }
    _ = try RoundRobin(rounds: 10, seconds: 0, [entrant]).run()
    #expect(turns == 1 + 3)
  }

  @Test(arguments: [(RoundRobin.WarmUp.oneRound, 3), (.none, 2)])
  func `warm up where that matters`(warmUp: RoundRobin.WarmUp, expected: Int) throws {
    var turns = 0
    let entrant = Entrant(.scan, .engine, settings: "") {
      turns += 1
      return Sample([.milliseconds: 1])
    }
    _ = try RoundRobin(rounds: 2, warmUp: warmUp, [entrant]).run()
    #expect(turns == expected)
  }

  @Test func `are told apart by the rows of their stores`() {
    #expect(Entrant.Key(.scan, .engine, rows: 1000).name == "scan-1000")
    #expect(Entrant.Key(.scan, .engine).name == "scan")
  }

  @Test func `that answer wrongly end the run`() {
    let entrant = Entrant(.scan, .engine, settings: "", rows: 1, expected: 1) { 2 }
    #expect(throws: WrongAnswer.self) { try RoundRobin(rounds: 1, [entrant]).run() }
  }
}
