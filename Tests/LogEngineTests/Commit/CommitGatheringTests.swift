import Synchronization
import Testing

@testable import LogEngine

@Suite struct `A round of writes` {
  /// Rounds of writes whose clock moves by a microsecond with each look at it.
  private final class Rounds {
    private var newest: UInt64 = 0
    private var visible: UInt64 = 0
    private let time: Time
    private let gathering: CommitGathering

    private final class Time: Sendable { let now = Atomic(0) }

    init() {
      let time = Time()
      self.time = time
      gathering = CommitGathering { time.now.add(1, ordering: .relaxed).newValue }
    }

    /// Runs a round for which some commits are ready; each of `waking` comes after so many pauses, and `late` ones come
    /// while the round writes, which takes so many microseconds.
    ///
    /// - Throws: Nothing.
    /// - Returns: How many commits it wrote, and how often it paused before.
    func run(
      ready: UInt64 = 1,
      waking: [Int] = [],
      late: UInt64 = 0,
      duration: Int = 100
    ) throws -> (written: UInt64, pauses: Int) {
      newest += ready
      let first = visible
      var pauses = 0
      try gathering.run(newest: { newest }, visible: { visible }) {
        pauses += 1
        newest += UInt64(waking.count { $0 == pauses })
      } _: { () throws(StorageError) in
        visible = newest
        newest += late
        time.now.add(duration, ordering: .relaxed)
      }
      return (visible - first, pauses)
    }
  }

  @Test func `waits for nobody if one thread commits`() throws {
    let rounds = Rounds()
    for _ in 0..<3 {
      let round = try rounds.run()
      #expect(round == (1, 0))
    }
  }

  @Test func `waits for the thread whose commit the last one wrote, though another is ready`()
    throws
  {
    let rounds = Rounds()
    _ = try rounds.run(late: 1)
    let round = try rounds.run(ready: 0, waking: [20])
    #expect(round == (2, 20))
  }

  @Test func `waits for as many commits as the last one wrote`() throws {
    let rounds = Rounds()
    _ = try rounds.run(ready: 8)
    let round = try rounds.run(waking: [1, 2, 3, 30, 30, 40, 50])
    #expect(round == (8, 50))
  }

  @Test func `waits no longer than the last one took, and expects no more than it got then`() throws
  {
    let rounds = Rounds()
    _ = try rounds.run(ready: 8, duration: 100)
    let inVain = try rounds.run(waking: [10], late: 1, duration: 100)
    #expect(inVain.written == 2)
    #expect(95...105 ~= inVain.pauses)
    let round = try rounds.run(ready: 0, waking: [5])
    #expect(round == (2, 5))
  }

  @Test(arguments: [1000, 100_000_000])
  func `waits no longer than a millisecond however long the last one took`(duration: Int) throws {
    let rounds = Rounds()
    _ = try rounds.run(ready: 2, duration: duration)
    let round = try rounds.run()
    #expect(round.written == 1)
    #expect(995...1005 ~= round.pauses)
  }
}
