/// The saves of a process that follow one another at once.
///
/// To begin a turn and to end it takes several times as long as a small save. So during a streak a process keeps its turn for a
/// moment, with no thread in it, even if others wait: they write more together, and wait for less than what a screen or a disk
/// takes. The lock of the turn is no queue, so a process that has kept its turn lets others begin theirs before it goes on.
struct SaveStreak {
  /// The longest time for which a turn is kept, in microseconds.
  static let longestTurn = 300
  /// The longest pause between two saves of a streak, in microseconds; processes that wake each other in turn take longer.
  private static let longestPause = 50
  /// The number of saves after which a streak is expected to go on.
  private static let shortest = 8

  private var count = 0
  /// The time at which the last turn was left.
  private var exit = 0

  /// Whether more saves are expected at once.
  var isLong: Bool { count >= Self.shortest }

  mutating func noteEntry(at now: Int) { count = now - exit <= Self.longestPause ? count + 1 : 0 }

  mutating func noteExit(at now: Int) { exit = now }

  /// Whether a save has ended lately.
  func goesOn(at now: Int) -> Bool { isLong && now - exit < Self.longestTurn }
}
