/// How much of a long campaign is tried: all of it in release builds, a third in debug builds, which take ten times as long.
enum Thoroughness {
  #if DEBUG
  static let stride = 3
  #else
  static let stride = 1
  #endif
}
