import ArgumentParser
import LogEngine
import Terminal

#if PostgreSQL
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

      The server's target is a schema without tables, by default one with the name of the store's folder. Indexes and \
      unique constraints are made when an app opens it for the first time. Needs a build with the trait PostgreSQL.

      EXAMPLES:
        logstore-inspect move trips.store postgresql://app@db/trips
        logstore-inspect move trips.store postgresql://app@db/trips --namespace trips --dry-run
        logstore-inspect move postgresql://app@db/trips trips.store

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

  @OptionGroup var output: OutputOptions

  var path: String { Self.isServer(source) ? target : source }

  func validate() throws {
    guard Self.isServer(source) != Self.isServer(target) else {
      throw ValidationError(
        "One place must be the folder of a store, the other an address such as postgresql://user@host/database."
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
    let report: StoreMove.Report
    do {
      let move = StoreMove(from: place(source), to: place(target), on: console.fileSystem)
      report = try move.run(dryRun ? .rehearsal : .move, progress: console.makeMoveProgress())
    } catch let error as MoveError {
      throw ToolError(error)
    } catch let error as PostgresStoreError {
      throw ToolError(error)
    }
    show(report, on: console)
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
    let facts: JSONValue = [
      "source": .string(report.source), "target": .string(report.target),
      "identifier": .string(report.identifier), "moved": .bool(!dryRun),
      "rows": .integer(Int64(report.rowCount)),
      "copySeconds": .double(report.copying.inSeconds),
      "compareSeconds": .double(report.comparing.inSeconds),
      "tables": .array(
        report.tables.map {
          [
            "entity": .string($0.name), "rows": .integer(Int64($0.digest.rowCount)),
            "digest": .string("\($0.digest)"),
          ]
        }
      ),
    ]
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
      return ([headline] + rows).joined(separator: "\n")
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
      advice = "stop the app first: a move while it writes is not possible"
      status = .locked
    case .otherSchema, .noStore, .noModels: break
    case .unstorableValue: advice = "change the value with the app; nothing was moved"
    case .digestsDiffer:
      advice = "nothing was moved; `logstore-inspect verify` checks the store"
      status = .checkFailed
    }
  }

  fileprivate init(_ error: PostgresStoreError) { self.init("\(error)") }
}

extension Console {
  /// Draws how far a move has come, table by table.
  fileprivate func makeMoveProgress() -> (StoreMove.Progress) -> Void {
    var current: (StoreMove.Progress.Phase, String)?
    var bar: ProgressBar?
    let isShown = screen.showsProgress
    return { progress in
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
}

extension Double {
  fileprivate var short: String { "\((self * 100).rounded() / 100)" }
}
#endif
