/// How much of a long campaign is tried: all of it in release builds, a sixth in debug builds, which take ten times as long.
public enum Thoroughness {
  #if DEBUG
  public static let stride = 6
  #else
  public static let stride = 1
  #endif

  /// Returns the seeds of a campaign.
  ///
  /// - Parameter count: Their number in release builds.
  /// - Returns: All of them in release builds, otherwise the first ones.
  public static func seeds(_ count: UInt64) -> ClosedRange<UInt64> {
    1...max(count / UInt64(stride), 1)
  }

  /// Returns the arguments of a campaign.
  ///
  /// - Parameter all: Those of release builds.
  /// - Returns: All of them in release builds, otherwise some, from the first to the last.
  public static func some<Argument>(_ all: [Argument]) -> [Argument] {
    if stride == 1 { return all }
    return all.indices.filter { $0 % stride == 0 || $0 == all.count - 1 }.map { all[$0] }
  }
}
