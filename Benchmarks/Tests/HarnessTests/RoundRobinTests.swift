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
    #expect(standings.flatMap(\.measurements).map(\.runs) == [2, 2])
  }

  @Test func `that answer wrongly end the run`() {
    let entrant = Entrant(.scan, .engine, settings: "", rows: 1, expected: 1) { 2 }
    #expect(throws: WrongAnswer.self) { try RoundRobin(rounds: 1, [entrant]).run() }
  }
}
