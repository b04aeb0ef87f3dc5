/// How much of a long campaign is tried: all of it in release builds, a third in debug builds, which take ten times as long.
public enum Thoroughness {
  #if DEBUG
  public static let stride = 3
  #else
  public static let stride = 1
  #endif

  /// Returns the seeds of a campaign.
  ///
  /// - Parameter count: Their number in release builds.
  /// - Returns: All of them in release builds, otherwise the first ones.
  public static func seeds(_ count: UInt64) -> ClosedRange<UInt64> { 1...count / UInt64(stride) }
}
