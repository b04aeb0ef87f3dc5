/// The exit status of a command; the numbers are promised in each command's help.
public enum ExitStatus: Int32, Sendable, CaseIterable {
  /// The command did what it was asked for.
  case success = 0
  /// The command line or its input was wrong, or the system failed, a full disk for instance; nothing was damaged.
  case usage = 1
  /// The store's bytes are not what was written.
  case damaged = 2
  /// Another process holds the store.
  case locked = 3
  /// The run ended, and what it checked does not hold.
  case checkFailed = 4

  /// The lines of a help text that explain the numbers.
  public static let help = """
    EXIT CODES:
      0  success
      1  wrong usage or input, such as a path without a store, or a failure of the system, such as a full disk
      2  the store is damaged
      3  the store is in use by another process
      4  a check failed
    """
}
