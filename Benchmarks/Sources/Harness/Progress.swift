import Foundation

/// Words about how far a long group is, for who sits before a terminal.
public enum Progress {
  /// Writes a line, if there is a terminal.
  public static func say(_ text: String) {
    guard isatty(STDERR_FILENO) == 1 else { return }
    FileHandle.standardError.write(Data("   \(text)\n".utf8))
  }
}
