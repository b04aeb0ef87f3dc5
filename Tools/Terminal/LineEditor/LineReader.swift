import Foundation

/// Reads lines that are edited at the process's terminal.
///
/// The terminal is in its own mode except while this waits for a line: output in between, and Ctrl-C, are as in
/// any other command.
public final class LineReader: LineSource {
  private let file: HistoryFile?
  private var decoder = KeyDecoder()
  /// Bytes that were read behind the end of a line: the next one begins with them.
  private var ahead: ArraySlice<UInt8> = []
  public private(set) var history: LineHistory

  /// The longest wait of an escape byte for the rest of a sequence, in milliseconds.
  private static let escapeDelay: CInt = 50

  /// Makes a reader of standard input.
  ///
  /// - Parameter file: Keeps the lines; `nil` for none.
  public init(history file: HistoryFile?) {
    self.file = file
    history = file?.read() ?? LineHistory()
  }

  /// Whether standard input and standard output are a terminal on which a line can be drawn.
  public static var isPossible: Bool {
    isatty(STDIN_FILENO) == 1 && Terminal.outputIsWatched
      && ProcessInfo.processInfo.environment["TERM", default: "dumb"] != "dumb"
  }

  public var isInteractive: Bool { true }
  public var isInterrupted: Bool { RawTerminal.isInterrupted }
  public func clearInterruption() { RawTerminal.clearInterruption() }
  public var size: (columns: Int, rows: Int)? { Terminal.outputSize }

  public func remember(_ line: String) {
    history.add(line)
    file?.add(line)
  }

  public func next(
    _ prompt: String,
    completing complete: @escaping Completion.Source
  ) -> LineEntry {
    guard RawTerminal.enter() else { return .end }
    defer { RawTerminal.leave() }
    _ = RawTerminal.takeWakes()
    var editor = LineEditor(
      prompt: prompt,
      width: size?.columns ?? 80,
      history: history,
      complete: complete
    )
    while true {
      var event: LineEditor.Event?
      while event == nil, !ahead.isEmpty {
        event = handle(decoder.read(ahead.removeFirst()), in: &editor)
      }
      if event == nil {
        write(editor.takeOutput())
        guard let keys = wait(&editor) else {
          return .end
        }
        event = handle(keys, in: &editor)
      }
      guard let event else { continue }
      write(editor.takeOutput())
      switch event {
      case .accepted(let line): return .line(line)
      case .abandoned: return .abandoned
      case .ended: return .end
      case .suspended:
        RawTerminal.leave()
        raise(SIGTSTP)
        guard RawTerminal.enter() else { return .end }
        editor.redraw()
      }
    }
  }

  private func handle(_ keys: [Key], in editor: inout LineEditor) -> LineEditor.Event? {
    for key in keys {
      // A byte is two keys only where the first ends nothing.
      if let event = editor.handle(key) { return event }
    }
    return nil
  }

  /// Waits for bytes, which are then in ``ahead``, or for a signal.
  ///
  /// - Returns: Keys that came without bytes; `nil` if nothing will come any more.
  private func wait(_ editor: inout LineEditor) -> [Key]? {
    var descriptors = [
      pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
      pollfd(fd: RawTerminal.wakeDescriptor, events: Int16(POLLIN), revents: 0),
    ]
    let count = poll(&descriptors, 2, decoder.isWaiting ? Self.escapeDelay : -1)
    if count == 0 { return decoder.flush() }
    if count < 0 { return errno == EINTR ? [] : nil }
    if descriptors[1].revents != 0 {
      let wakes = RawTerminal.takeWakes()
      if wakes.contains(.continued) { editor.redraw() }
      if wakes.contains(.resized), let size { editor.resize(to: size.columns) }
      if wakes.contains(.interrupted) { return [.interrupt] }
    }
    guard descriptors[0].revents != 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let byteCount = read(STDIN_FILENO, &bytes, bytes.count)
    if byteCount < 0, errno == EINTR || errno == EAGAIN { return [] }
    guard byteCount > 0 else { return nil }
    ahead = bytes.prefix(byteCount)
    return []
  }

  private func write(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes {
        Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count)
      }
      if count > 0 {
        bytes.removeFirst(count)
      } else if errno == EAGAIN {
        var descriptor = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        _ = poll(&descriptor, 1, -1)
      } else if errno != EINTR {
        return
      }
    }
  }
}
