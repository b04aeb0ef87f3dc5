import Foundation
import LogEngine
import Terminal

/// The environment of a command: the files, the screen it writes to, the passing of time.
///
/// Results go to standard output and notices to standard error, so that a pipe carries nothing but results.
final class Console {
  let fileSystem: any FileSystem
  /// The present facts about the terminal: its window may get another size.
  var screen: Screen
  /// Lets some time pass; returns whether to continue.
  let pause: (Duration) -> ScanControl
  /// The source of lines for a command that reads them; `nil` for the process's own input.
  let lines: (any LineSource)?
  private let writeNotice: (String) -> Void
  private var output: OutputBuffer

  /// The facts about the terminal, if there is one.
  struct Screen {
    /// The width of standard output; `nil` if that is unknown, as in a pipe.
    var width: Int?
    /// Number of lines of the terminal behind standard output; `nil` if there is none.
    var height: Int?
    var hasColour = false
    /// Whether standard output is a terminal, on which a screen can be drawn over the last one.
    var isRedrawn = false
    /// Whether progress can be drawn on standard error.
    var showsProgress = false
  }

  init(
    fileSystem: any FileSystem,
    screen: Screen,
    output: consuming OutputBuffer,
    writeNotice: @escaping (String) -> Void,
    pause: @escaping (Duration) -> ScanControl,
    lines: (any LineSource)? = nil
  ) {
    self.fileSystem = fileSystem
    self.screen = screen
    self.output = output
    self.writeNotice = writeNotice
    self.pause = pause
    self.lines = lines
  }

  /// The process's own.
  convenience init(colour: ColourChoice) {
    var screen = Screen()
    screen.width = Terminal.outputWidth
    screen.height = Terminal.outputHeight
    screen.isRedrawn = Terminal.outputIsWatched
    screen.showsProgress = Terminal.errorIsWatched
    screen.hasColour =
      switch colour {
      case .always: true
      case .never: false
      case .auto: Terminal.outputHasColour
      }
    self.init(
      fileSystem: PosixFileSystem(),
      screen: screen,
      output: OutputBuffer(),
      writeNotice: { Terminal.notice($0) },
      pause: { duration in
        Thread.sleep(forTimeInterval: duration.seconds)
        return .proceed
      }
    )
  }

  /// The time of day, in microseconds since 1970-01-01T00:00:00Z.
  var now: Int64 { fileSystem.microseconds() }
}

// MARK: Writing

extension Console {
  /// Writes a line of the result.
  func line(_ text: String = "") { output.writeLine(text) }

  /// Writes a line of data as it is; on a terminal, without characters that would control it.
  func dataLine(_ text: String) { output.writeLine(screen.isRedrawn ? text.printableLines : text) }

  /// Writes bytes of data as they are; the output is no terminal.
  func write(_ bytes: [UInt8]) { output.write(bytes) }

  /// Writes a line for people, cut off at the edge of the terminal.
  func clippedLine(_ text: String) {
    output.writeLine(screen.width.map { text.clipped(to: $0) } ?? text)
  }

  func print(_ table: TextTable, indent: String = "") {
    let width = screen.width.map { max($0 - indent.count, 20) }
    for line in table.lines(fitting: width) {
      output.writeLine(line.isEmpty ? "" : indent + line)
    }
  }

  /// Hands over what is pending.
  func flush() { output.flush() }

  /// Says something beside the result.
  func notice(_ text: String) {
    output.flush()
    // Names and values of a store are part of it.
    writeNotice(text.printableLines)
  }

  /// The text in a style, on a terminal.
  func styled(_ text: String, _ style: Style) -> String {
    screen.hasColour ? style(text) : text
  }
}

// MARK: Progress

extension Console {
  /// Draws the progress of maintenance, phase by phase.
  func makeProgress() -> (MaintenanceProgress) -> Void {
    var phase: MaintenanceProgress.Phase?
    var bar: ProgressBar?
    let isShown = screen.showsProgress
    return { progress in
      if progress.phase != phase {
        bar?.finish()
        phase = progress.phase
        bar = ProgressBar(progress.phase.label, total: progress.total, isShown: isShown)
      }
      bar?.update(progress.completed)
      if progress.completed >= progress.total { bar?.finish() }
    }
  }
}

extension MaintenanceProgress.Phase {
  fileprivate var label: String {
    switch self {
    case .readingLog: "reading"
    case .replaying: "replaying"
    case .checkingRows: "rows"
    case .copying: "copying"
    case .writing: "writing"
    }
  }
}
