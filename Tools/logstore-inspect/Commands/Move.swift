import ArgumentParser
import LogEngine
import Terminal

#if PostgreSQL
import Foundation
import PostgresStore
import StoreMoving
#endif

/// Moves a store to a PostgreSQL server, or back.
struct MoveCommand: InspectCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Moves a store to a PostgreSQL server, or from one into a new store.",
    discussion: """
      One of the two places is the folder of a store, the other the address of a database, as libpq takes it. Keys \
      and the store's identifier are kept, so that identifiers of models that were written down stay valid; values \
      in files of their own move, too. History does not: tokens of it expire, and observers fetch anew. On the server \
      everything is one transaction; a store is made beside its place. Both sides are compared at the end by a digest \
      for each table, and a move that fails leaves nothing behind. The source stays as it is. No app may write to it \
      meanwhile: a store that a process has open for writing is refused; apps on a server have to be stopped first, \
      and wait if they are not.

      With --while-writing apps go on: what they save is moved, too, again and again, until the end that --until names. \
      A line on standard error says "ready" when everything is there and compared but for the last moment. A store in a \
      folder is then closed by its app, which may open the server's at once: it waits until the move has ended, some \
      milliseconds later. Apps on a server are stopped, and then a line is typed.

      The server's target is a schema without tables, by default one with the name of the store's folder. Indexes and \
      unique constraints are made when an app opens it for the first time. Needs a build with the trait PostgreSQL.

      EXAMPLES:
        logstore-inspect move trips.store postgresql://app@db/trips
        logstore-inspect move trips.store postgresql://app@db/trips --namespace trips --dry-run
        logstore-inspect move postgresql://app@db/trips trips.store
        logstore-inspect move trips.store postgresql://app@db/trips --while-writing
        logstore-inspect move postgresql://app@db/trips copy.store --while-writing --until caught-up

      \(ExitStatus.help)
      """
  )

  @Argument(help: "Where the store is: its folder, or the address of a database.")
  var source: String
  @Argument(help: "Where it is to be: nothing or an empty folder, or the address of a database.")
  var target: String

  @Option(
    help: ArgumentHelp(
      "The schema of the database; by default the name of the store's folder.",
      valueName: "name"
    )
  )
  var namespace: String?

  @Flag(help: "Read and check everything, and write nothing.")
  var dryRun = false

  @Flag(help: "Let apps write meanwhile, and move what they save, too.")
  var whileWriting = false

  @Option(
    help: ArgumentHelp(
      """
      When a move ends that apps write beside: when the app has closed its store ('closed', the default of a folder), \
      when a line is typed or standard input ends ('told', the default of a server), or when what is left takes less \
      than a moment ('caught-up').
      """,
      valueName: "end"
    )
  )
  var until: End?

  enum End: String, ExpressibleByArgument, CaseIterable {
    case closed, told
    case caughtUp = "caught-up"
  }

  @OptionGroup var output: OutputOptions

  var path: String { Self.isServer(source) ? target : source }

  func validate() throws {
    guard Self.isServer(source) != Self.isServer(target) else {
      throw ValidationError(
        "One place must be the folder of a store, the other an address such as postgresql://user@host/database."
      )
    }
    if until != nil, !whileWriting {
      throw ValidationError("--until says when a move with --while-writing ends.")
    }
    if whileWriting, dryRun {
      throw ValidationError("--dry-run writes nothing, and so has nothing to follow.")
    }
    if until == .closed, Self.isServer(source) {
      throw ValidationError(
        "A server does not tell whether apps will save again: use --until told or --until caught-up."
      )
    }
  }

  /// Whether an argument is an address for libpq rather than a path.
  static func isServer(_ place: String) -> Bool {
    if place.hasPrefix("postgresql://") || place.hasPrefix("postgres://") { return true }
    // Or a list of keyword=value.
    guard let sign = place.firstIndex(of: "=") else { return false }
    return place[..<sign].allSatisfy { $0.isLowercase || $0 == "_" }
  }

  #if PostgreSQL
  func run(in console: Console) throws {
    if !Self.isServer(target) { try OutputPlace(target, on: console.fileSystem).checkFolders() }
    let report: StoreMove.Report
    do {
      let move = StoreMove(from: place(source), to: place(target), on: console.fileSystem)
      report = try move.run(extent, progress: console.makeMoveProgress())
    } catch let error as MoveError {
      throw ToolError(error)
    } catch let error as PostgresStoreError {
      throw ToolError(error)
    }
    show(report, on: console)
  }

  private var extent: StoreMove.Extent {
    if dryRun { return .rehearsal }
    guard whileWriting else { return .move }
    return switch until ?? (Self.isServer(source) ? .told : .closed) {
    case .closed: .moveWhileWriting(until: .sourceClosed)
    case .caughtUp: .moveWhileWriting(until: .caughtUp)
    case .told: .moveWhileWriting(until: .told(Terminal.hasInput))
    }
  }

  private func place(_ argument: String) -> StoreMove.Place {
    if Self.isServer(argument) {
      .server(url: argument, namespace: namespace ?? defaultNamespace)
    } else {
      .log(StorePath.normalized(argument))
    }
  }

  /// The name of the store's folder without what follows a point.
  private var defaultNamespace: String {
    let name = StorePath.normalized(path).split(separator: "/").last ?? ""
    return String(name.prefix { $0 != "." })
  }

  private func show(_ report: StoreMove.Report, on console: Console) {
    var members: [JSONValue.Member] = [
      .init(name: "source", value: .string(report.source)),
      .init(name: "target", value: .string(report.target)),
      .init(name: "identifier", value: .string(report.identifier)),
      .init(name: "moved", value: .bool(!dryRun)),
      .init(name: "state", value: .string(report.state)),
      .init(name: "rows", value: .integer(Int64(report.rowCount))),
      .init(name: "copySeconds", value: .double(report.copying.inSeconds)),
      .init(name: "compareSeconds", value: .double(report.comparing.inSeconds)),
    ]
    if let following = report.following {
      let facts: JSONValue = [
        "rows": .integer(Int64(following.rowCount)),
        "rounds": .integer(Int64(following.roundCount)),
        "restarts": .integer(Int64(following.restartCount)),
        "endSeconds": .double(following.ending.inSeconds),
      ]
      members.append(.init(name: "following", value: facts))
    }
    let tables: [JSONValue] = report.tables.map {
      [
        "entity": .string($0.name), "rows": .integer(Int64($0.digest.rowCount)),
        "digest": .string("\($0.digest)"),
      ]
    }
    members.append(.init(name: "tables", value: .array(tables)))
    let facts = JSONValue.object(members)
    console.printFacts(facts, output.format) {
      let rows = report.tables.map {
        "  \($0.name.printable)  \($0.digest.rowCount.counted("row"))  \($0.digest)"
      }
      let copying = report.copying.inSeconds.short
      let (what, times) =
        dryRun
        ? ("could be moved to", "read in \(copying) s; nothing was written")
        : ("is now in", "copied in \(copying) s, compared in \(report.comparing.inSeconds.short) s")
      let headline =
        "\(report.source.printable) \(what) \(report.target.printable): "
        + "\(report.rowCount.counted("row")), \(times)"
      let following = report.following.map {
        "  as of \(report.state): \($0.rowCount.counted("row")) moved again in \($0.roundCount.counted("round")), the last "
          + "moment took \($0.ending.inMilliseconds) ms"
      }
      return ([headline] + [following].compactMap(\.self) + rows).joined(separator: "\n")
    }
  }
  #else
  func run(in console: Console) throws {
    throw ToolError(
      "this build knows no servers",
      expected: "a build with the trait PostgreSQL, and libpq",
      advice: "swift run -c release --traits PostgreSQL logstore-inspect move …"
    )
  }
  #endif
}

#if PostgreSQL
extension ToolError {
  fileprivate init(_ error: MoveError) {
    self.init("\(error)")
    switch error {
    case .targetNotEmpty: advice = "another place, or another --namespace"
    case .sourceInUse:
      advice = "stop the app first, or move with --while-writing"
      status = .locked
    case .otherSchema, .noStore, .noModels: break
    case .unstorableValue: advice = "change the value with the app; nothing was moved"
    case .sourceTooFast:
      advice = "stop the app first, or let it keep more history: nothing was moved"
      status = .locked
    case .digestsDiffer, .rowsMissed:
      advice = "nothing was moved; `logstore-inspect verify` checks the store"
      status = .checkFailed
    }
  }

  fileprivate init(_ error: PostgresStoreError) { self.init("\(error)") }
}

extension Terminal {
  /// Whether there is something to be read on standard input, or it has ended.
  fileprivate static let hasInput: @Sendable () -> Bool = {
    var descriptor = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    return poll(&descriptor, 1, 0) > 0
  }
}

extension Console {
  /// Draws how far a move has come, table by table, and says when it only follows.
  fileprivate func makeMoveProgress() -> (StoreMove.Progress) -> Void {
    var current: (StoreMove.Progress.Phase, String)?
    var bar: ProgressBar?
    var isReady = false
    let isShown = screen.showsProgress
    return { progress in
      if progress.phase == .following {
        bar?.finish()
        bar = nil
        if isReady { return }
        isReady = true
        return self.notice("ready at \(progress.table)")
      }
      if current.map({ $0 != (progress.phase, progress.table) }) ?? true {
        bar?.finish()
        current = (progress.phase, progress.table)
        let verb = progress.phase == .copying ? "copying" : "comparing"
        bar = ProgressBar("\(verb) \(progress.table)", total: progress.total, isShown: isShown)
      }
      bar?.update(progress.rowCount)
      if progress.rowCount >= progress.total { bar?.finish() }
    }
  }
}

extension Duration {
  fileprivate var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }

  fileprivate var inMilliseconds: Double { (inSeconds * 10_000).rounded() / 10 }
}

extension Double {
  fileprivate var short: String { "\((self * 100).rounded() / 100)" }
}
#endif
