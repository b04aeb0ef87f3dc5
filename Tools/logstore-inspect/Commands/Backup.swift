import ArgumentParser
import LogEngine
import Terminal

/// Copies a store.
struct BackupCommand: InspectCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies a store as of its last commit, also while it is written to.",
    discussion: """
      On the same file system the copy shares the files that are never written again, and takes hardly \
      any time or space; elsewhere all is copied. The copy is a store of its own. Once the command ends it \
      survives a power cut; until then there is nothing that could be opened.

      EXAMPLES:
        logstore-inspect backup trips.store /backups/trips-monday.store
        logstore-inspect backup trips.store copy.store && logstore-inspect verify copy.store

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  @Argument(
    help: "The folder of the copy: nothing, or an empty folder, may be there.",
    completion: .directory
  )
  var destination: String

  var path: String { store.path }

  func validate() throws { try StorePath.checkDestination(destination) }

  func run(in console: Console) throws {
    try OutputPlace(destination, on: console.fileSystem).checkFolders()
    let copy = StorePath.normalized(destination)
    let sequence = try self.copy(to: copy, in: console)
    let files = try StoreFiles(under: copy, on: console.fileSystem)
    let facts: JSONValue = [
      "store": .string(path), "copy": .string(destination), "commit": .unsigned(sequence.rawValue),
      "files": .integer(Int64(files.count)), "bytes": .integer(Int64(files.byteCount)),
    ]
    console.printFacts(facts, output.format) {
      "\(destination) is \(path) as of commit \(sequence.rawValue): "
        + "\(files.byteCount.byteCount) in \(files.count.counted("file"))"
    }
  }

  /// Copies the store, once more if what was read seems to be damaged: its writer may have overtaken the copy.
  private func copy(to copy: String, in console: Console) throws -> CommitSequence {
    var attempts = 0
    while true {
      do throws(StorageError) {
        return try copyOnce(to: copy, in: console)
      } catch {
        attempts += 1
        switch error {
        case .corruption, .missingFile, .commitGone: break
        default: throw error
        }
        guard attempts < Self.attemptLimit else { throw error }
        console.fileSystem.pause(microseconds: attempts * Self.pause)
      }
    }
  }

  private static let attemptLimit = 5
  private static let pause = 50_000

  private func copyOnce(
    to copy: String,
    in console: Console
  ) throws(StorageError) -> CommitSequence {
    var options = EngineOptions()
    options.mode = .readOnly
    options.missingStore = .fail
    options.reads = store.reads
    let engine = try StorageEngine.open(
      at: StorePath.normalized(path),
      options: options,
      fileSystem: console.fileSystem
    )
    return try engine.backup(to: copy, progress: console.makeProgress())
  }
}
