import LogEngine
import Terminal

/// A conversation about a store: reads lines, answers each, and continues after a failure.
///
/// The store is opened to be read only and stays open; each line begins with a look at its newest commit.
final class Shell {
  /// The console for results that no file takes, and for all notices.
  let screen: Console
  let input: any LineSource
  private(set) var options: StoreOptions
  private(set) var store: InspectedStore
  var settings = ShellSettings()
  /// The file that results go to; `nil` for the screen.
  var file: FileOutput?
  /// The file for the next result alone.
  var fileOnce: FileOutput?
  private(set) var hasEnded = false
  private var failures: [ExitStatus] = []
  /// The damage that was found when the store was opened.
  private var damage: ToolError?
  /// Number of files that are being read, one from the other.
  private var readDepth = 0

  private static let prompt = "logstore> "
  private static let continuation = "     ...> "
  private static let readDepthLimit = 8

  init(_ store: StoreOptions, _ input: any LineSource, in console: Console) throws(ToolError) {
    screen = console
    self.input = input
    options = store
    self.store = try InspectedStore(store, in: console)
    begin()
  }

  /// Reads and answers lines until they end.
  ///
  /// - Parameter noun: The noun for a line in errors.
  /// - Throws: ``ToolError`` at the end, if no user was there to read of a failure.
  func run(counting noun: String) throws(ToolError) {
    greet()
    read(input, noun, of: nil)
    if input.isInteractive { return }
    guard let first = failures.first else {
      if let damage { throw damage }
      return
    }
    if let damage { screen.notice("error: \(damage)") }
    throw ToolError(
      "\(failures.count.counted(noun)) failed",
      place: store.path,
      status: damage != nil || failures.contains(.damaged) ? .damaged : first
    )
  }

  /// Looks into another store from now on.
  func open(_ path: String) throws(ToolError) {
    var options = options
    options.path = path
    store = try InspectedStore(options, in: screen)
    self.options = options
    begin()
    greet()
  }

  /// Ends the conversation after this line.
  func end() { hasEnded = true }

  fileprivate func begin() { store.isInterrupted = { [input] in input.isInterrupted } }

  /// Names the store that was opened, and its damage.
  private func greet() {
    if input.isInteractive {
      let rowCount = store.tables.reduce(0) { $0 + store.view.rowCount(of: $1.number) }
      let entities = store.tables.count == 1 ? "1 entity" : "\(store.tables.count.grouped) entities"
      screen.line(
        "\(store.path.printable): \(entities), \(rowCount.counted("row")), "
          + "last commit \(store.view.sequence.rawValue)"
      )
      screen.line("A question names an entity: `.help` shows how. `.quit` or Ctrl-D ends.")
    }
    do throws(ToolError) {
      try store.finish()
      damage = nil
    } catch {
      damage = error
      // Without a user to read it now, it ends the command, as it does with any other.
      if input.isInteractive { screen.notice("error: \(error)") }
    }
  }
}

// MARK: Lines

extension Shell {
  /// The place of a line, for errors.
  struct Place {
    let noun: String
    /// `nil` for the input of the shell.
    let file: String?
    let number: Int

    var text: String { (file.map { $0.printable + ", " } ?? "") + "\(noun) \(number)" }
  }

  /// Executes the lines of a file.
  func read(_ path: String) throws {
    guard readDepth < Self.readDepthLimit else {
      throw ToolError(
        "files are read from files at most \(Self.readDepthLimit) deep",
        place: path
      )
    }
    let text = String(decoding: try UserFile(path: path, in: screen).contents(), as: UTF8.self)
    readDepth += 1
    defer { readDepth -= 1 }
    read(TextLines(text: text), "line", of: path)
  }

  /// Executes lines, up to their end or that of the shell.
  private func read(_ lines: any LineSource, _ noun: String, of file: String?) {
    var number = 0
    var pending = OpenText()
    while !hasEnded {
      screen.flush()
      let before = pending.text
      let prompt = pending.lineCount == 0 ? Self.prompt : Self.continuation
      let entry = lines.next(prompt) { [self] in
        ShellCompletion(store).completion(of: $0, behind: before)
      }
      if case .line(let line) = entry {
        number += 1
        pending.append(line)
      }
      let text = pending.text
      let place = Place(noun: noun, file: file, number: number - pending.lineCount + 1)
      switch entry {
      case .abandoned: pending = OpenText()
      case .line:
        if !isCommand(text), !isComment(text), pending.needsMore { continue }
        pending = OpenText()
        if lines.isInteractive {
          lines.remember(text)
          lines.clearInterruption()
        }
        perform(text, at: place)
        if lines.isInteractive {
          lines.clearInterruption()
        } else if input.isInterrupted {
          // Ctrl-C ends the file, too, whose line it met.
          return
        }
      case .end:
        // An unfinished text is an error that names what is missing.
        if pending.lineCount > 0 { perform(text, at: place) }
        return
      }
    }
  }

  private func isCommand(_ text: String) -> Bool { text.first(where: { !$0.isWhitespace }) == "." }

  private func isComment(_ text: String) -> Bool {
    let text = text.drop(while: \.isWhitespace)
    return text.isEmpty || text.hasPrefix("--") || text.hasPrefix("#")
  }

  private func perform(_ text: String, at place: Place) {
    if isComment(text) { return }
    if let size = input.size { (screen.screen.width, screen.screen.height) = size }
    let start = ContinuousClock.now
    let once = fileOnce
    do {
      defer { console.flush() }
      try isCommand(text) ? execute(text) : answer(text)
    } catch is Interruption {
      screen.notice("interrupted")
    } catch let error as ToolError {
      report(error, at: place)
    } catch let error as StorageError {
      report(ToolError(error, at: store.path), at: place)
    } catch {
      report(ToolError("\(error)", place: store.path), at: place)
    }
    if settings.isTimed { screen.notice("time  \(start.duration(to: .now).seconds.duration)") }
    for output in [once, file].compactMap(\.self) {
      do throws(StorageError) {
        try output.flush()
      } catch {
        report(ToolError(error, at: output.path), at: place)
      }
    }
    // A file for one line is over, unless this line began it.
    if once != nil, once === fileOnce { fileOnce = nil }
  }

  /// The console that results go to.
  var console: Console { (fileOnce ?? file)?.console ?? screen }

  /// Reports an error, with its place if no user is looking.
  private func report(_ error: ToolError, at place: Place) {
    failures.append(error.status)
    var error = error
    if !input.isInteractive { error.what = "\(place.text): \(error.what)" }
    screen.notice("error: \(error)")
  }
}

// MARK: The store

extension Shell {
  /// Moves on to the newest commit, or to an earlier one, for the next answer.
  func look(at commit: UInt64? = nil) throws {
    do throws(StorageError) {
      try store.refreshWholly()
    } catch  where error.leavesBehind {
      store = try InspectedStore(options, in: screen)
      begin()
    } catch {
      // The part that was read before stays readable, and is what the answer is about.
      store.recordDamage(error)
    }
    if let commit { try store.look(at: commit) }
  }
}
