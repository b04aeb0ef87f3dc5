/// Lets entrants take turns, so that other work of the machine meets all of them alike.
public struct RoundRobin {
  /// The preparation before the rounds that count.
  public enum WarmUp: Sendable {
    case oneRound
    /// Nothing: for turns that begin from nothing, as with a process of its own.
    case none

    fileprivate var firstRound: Int { self == .oneRound ? 0 : 1 }
  }

  private let entrants: [Entrant]
  private let rounds: Int
  private let limit: UInt64
  private let warmUp: WarmUp
  private static let leastRounds = 3

  /// Creates the rounds.
  ///
  /// - Parameters:
  ///   - rounds: The number of measurements of each entrant; one more turn before may warm up.
  ///   - seconds: When they are over, no further round begins, but three are always run: a busy
  ///     machine then makes figures less certain, and not a run of half an hour one of two hours.
  ///   - warmUp: Whether a turn of each before all others does not count.
  ///   - entrants: The entrants.
  public init(
    rounds: Int,
    seconds: Double = Plan.isQuickRun ? 2.5 : 20,
    warmUp: WarmUp = .oneRound,
    _ entrants: [Entrant]
  ) {
    self.warmUp = warmUp
    self.entrants = entrants
    self.rounds = rounds
    limit = UInt64(seconds * 1e9)
  }

  /// Runs all rounds.
  ///
  /// The first entrant changes from round to round: going first may mean to pay for the remains of the one
  /// before.
  ///
  /// - Returns: A standing for each entrant, in the order they were given.
  /// - Throws: What an entrant throws.
  public func run() throws -> [Standing] {
    var samples = entrants.map { _ in Samples() }
    let begin = monotonicNanoseconds()
    try withPriority {
      for round in warmUp.firstRound...rounds {
        if round > Self.leastRounds, monotonicNanoseconds() - begin > limit { break }
        for turn in entrants.indices {
          let index = (turn + round) % entrants.count
          let sample = try entrants[index].run()
          if round > 0 { samples[index].append(sample) }
        }
      }
    }
    for index in samples.indices {
      if let last = try entrants[index].afterwards?() { samples[index].append(last) }
    }
    return entrants.indices.map { index in
      let other = entrants.firstIndex { $0.key == entrants[index].reference }
      return Standing(
        entrant: entrants[index],
        series: samples[index].series,
        latencies: samples[index].histogram,
        reference: other.map { samples[$0].series }
      )
    }
  }
}
