public import Foundation

/// The outputs of a command: results go to standard output, everything else to standard error.
public enum Terminal {
  /// Whether standard output is a terminal, so that colour helps.
  public static let outputIsWatched = isatty(STDOUT_FILENO) == 1
  /// Whether standard error is a terminal, so that progress helps.
  public static let errorIsWatched = isatty(STDERR_FILENO) == 1

  /// Number of columns of the terminal behind standard output; `nil` if it is none.
  ///
  /// COLUMNS in the environment takes precedence over the terminal.
  public static var outputWidth: Int? {
    if let text = ProcessInfo.processInfo.environment["COLUMNS"], let columns = Int(text),
      columns > 0
    {
      return columns
    }
    return outputSize?.columns
  }

  /// Number of lines of the terminal behind standard output; `nil` if it is none.
  public static var outputHeight: Int? { outputSize?.rows }

  /// The size of the terminal behind standard output, as it reports it; `nil` if it is none.
  public static var outputSize: (columns: Int, rows: Int)? {
    var size = winsize()
    guard outputIsWatched, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0,
      size.ws_row > 0
    else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Whether to use colours: the output is a terminal, and the environment has no NO_COLOR.
  public static var outputHasColour: Bool {
    let environment = ProcessInfo.processInfo.environment
    return outputIsWatched && environment["NO_COLOR", default: ""].isEmpty
      && environment["TERM"] != "dumb"
  }

  /// Writes to standard output; if that is impossible, says so and ends the process.
  @Sendable public static func writeOutput(_ data: Data) {
    do {
      try FileHandle.standardOutput.write(contentsOf: data)
    } catch {
      notice("error: standard output cannot be written: \(describe(error))")
      exit(ExitStatus.usage.rawValue)
    }
  }

  /// Writes a line to standard error.
  public static func notice(_ line: String) { writeError(line + "\n") }

  /// Writes to standard error; if that is impossible, there is nowhere to report it.
  fileprivate static func writeError(_ text: String) {
    // `write(_:)` would end the process, and with it the work and the exit status.
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }

  /// Writes an error to standard error.
  public static func report(_ error: any Error) {
    // An error may quote text that was found, which may be anything.
    notice("error: \(error is ToolError ? "\(error)" : describe(error))".printableLines)
  }

  /// Foundation's errors describe themselves in a sentence only when asked for it.
  private static func describe(_ error: any Error) -> String {
    (error as? CocoaError).map(\.localizedDescription) ?? "\(error)"
  }
}

/// Collects what goes to standard output and writes it in large pieces.
public struct OutputBuffer: ~Copyable {
  private var pending = Data()
  private let sink: @Sendable (Data) -> Void

  /// Creates a buffer for standard output, unless another sink is given.
  public init(_ sink: @escaping @Sendable (Data) -> Void = Terminal.writeOutput) {
    self.sink = sink
  }

  /// Appends a line.
  public mutating func writeLine(_ line: String) {
    pending.append(contentsOf: line.utf8)
    pending.append(UInt8(ascii: "\n"))
    if pending.count >= 1 << 16 { flush() }
  }

  /// Appends bytes.
  public mutating func write(_ bytes: [UInt8]) {
    pending.append(contentsOf: bytes)
    if pending.count >= 1 << 16 { flush() }
  }

  /// Hands over what is pending; call it before the command ends.
  public mutating func flush() {
    if !pending.isEmpty { sink(pending) }
    pending.removeAll(keepingCapacity: true)
  }

  deinit {
    if !pending.isEmpty { sink(pending) }
  }
}

extension Terminal {
  /// Replaces the line of the cursor, on standard error.
  static func draw(_ line: String) { writeError("\r\u{1B}[K\(line)") }
}
