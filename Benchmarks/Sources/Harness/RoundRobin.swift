/// Lets entrants take turns, so that whatever else the machine does meets all of them alike.
public struct RoundRobin {
  private let entrants: [Entrant]
  private let rounds: Int

  /// Creates the rounds.
  ///
  /// - Parameters:
  ///   - rounds: How often each entrant is measured; one more turn before that warms up.
  ///   - entrants: Who takes part.
  public init(rounds: Int, _ entrants: [Entrant]) {
    self.rounds = rounds
    self.entrants = entrants
  }

  /// Runs all rounds.
  ///
  /// Who goes first changes from round to round: going first may mean to pay for what the one before
  /// left behind.
  ///
  /// - Returns: A standing for each entrant, in the order they were given.
  /// - Throws: What an entrant throws.
  public func run() throws -> [Standing] {
    var samples = entrants.map { _ in Samples() }
    try withPriority {
      for round in 0...rounds {
        for turn in entrants.indices {
          let index = (turn + round) % entrants.count
          let sample = try entrants[index].run()
          if round > 0 { samples[index].append(sample) }
        }
      }
    }
    for index in samples.indices {
      samples[index].finish()
      if let last = try entrants[index].afterwards?() { samples[index].append(last) }
    }
    return entrants.indices.map { index in
      let other = entrants.firstIndex { $0.key == entrants[index].reference }
      return Standing(
        entrant: entrants[index],
        series: samples[index].series,
        reference: other.map { samples[$0].series }
      )
    }
  }
}
