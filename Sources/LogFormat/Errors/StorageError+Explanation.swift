import LibC

extension StorageError: CustomStringConvertible {
  /// The error, its place, the expected and found values, and advice, on one line.
  public var description: String { explanation.description }

  /// The error in a few words without a place: for lists that already have one.
  public var words: String {
    if case .corruption(let corruption) = self { return corruption.problem.explanation.part }
    return explanation.what
  }

  /// The error in words, in parts.
  public var explanation: ErrorExplanation {
    switch self {
    case .unexpectedFile(let path, let expected, let found):
      ErrorExplanation(
        "an entry of the store's folder has the wrong kind",
        place: path,
        expected: expected.rawValue,
        found: found.rawValue,
        advice: "nothing was followed or changed; remove it, or restore the store from a copy"
      )
    case .inputOutput(let path, let operation, let errno):
      ErrorExplanation(
        "the system refused to \(operation.words): \(unsafe String(cString: strerror(errno)))",
        place: path,
        advice: operation.advice(for: errno)
      )
    case .noSpace(let path, let needed):
      ErrorExplanation(
        "the disk is full",
        place: path,
        // How much a new name takes is known to the system alone.
        expected: needed > 0 ? "room for \(needed) bytes" : nil,
        advice: "make room and try again: what was saved before is safe"
      )
    case .missingFile(let path) where path.hasSuffix("/LOCK") || path.hasSuffix("/TURN"):
      ErrorExplanation(
        "the store's folder was moved or removed while it was open",
        place: path,
        expected: "the lock that is held",
        advice: "move it back, or open the store again; what was saved is in the folder that moved"
      )
    case .missingFile(let path):
      ErrorExplanation(
        "the store is damaged: a file is missing",
        place: path,
        advice: Self.damageAdvice
      )
    case .corruption(let corruption): corruption.explanation
    case .poisoned(let path, let cause): Self.explanation(of: cause, thatPoisoned: path)
    case .missingStore, .notAStore, .foreignStore, .unsupportedVersion, .unsupportedFeatures,
      .locked, .networkFileSystem, .turnTimeout, .readOnly, .closed, .missingFolder,
      .destinationExists, .numbersSpent, .unknownCommit, .commitGone:
      storeExplanation
    case .rowNotFound, .rowExists, .duplicateRow, .invalidRow, .unknownLayout, .unknownTable,
      .foreignBlob, .invalidKey, .tooLarge, .invalidCatalogueChange:
      batchExplanation
    }
  }

  /// How the holder of a lock is described that is the process itself.
  package static let thisProcess = "this process"

  static let damageAdvice =
    "restore the store from a copy, or `logstore-inspect salvage` what can be read"

  private static func explanation(
    of cause: StorageError,
    thatPoisoned store: String
  ) -> ErrorExplanation {
    var explanation = cause.explanation
    explanation.what =
      "a write failed, and no further one can be trusted: \(explanation.what)"
    explanation.place = explanation.place ?? store
    explanation.expected = nil
    explanation.advice = "what was saved before is safe; check the disk and open the store again"
    return explanation
  }
}

// MARK: The store as a whole

extension StorageError {
  private var storeExplanation: ErrorExplanation {
    switch self {
    case .missingStore(let path):
      ErrorExplanation(
        "there is no store",
        place: path,
        expected: "the folder of a log store",
        advice: "check the path"
      )
    case .notAStore(let path, let found):
      ErrorExplanation(
        "the path is not a log store",
        place: path,
        expected: "the folder of a log store",
        found: found,
        advice: "give another path; nothing was changed"
      )
    case .foreignStore(let path, let expected, let found):
      ErrorExplanation(
        "the store belongs to another program",
        place: path,
        expected: expected,
        found: found,
        advice: "give another path; nothing was changed"
      )
    case .unsupportedVersion(let path, let found, let supported):
      ErrorExplanation(
        "the store was written by a newer version",
        place: path,
        expected: "format \(supported) or older",
        found: "format \(found)",
        advice: "use the version that wrote it"
      )
    case .unsupportedFeatures(let path, let bits):
      ErrorExplanation(
        "the store uses features this version does not know",
        place: path,
        found: "feature bits 0x\(String(bits, radix: 16))",
        advice: "use the version that wrote it"
      )
    case .locked(let path, let holder):
      ErrorExplanation(
        "the store is in use",
        place: path,
        expected: "no other writer",
        found: holder,
        advice: holder.hasPrefix(Self.thisProcess)
          ? "use the store that is open, or close it first"
          : "close it there first, or have every process open it with `writers = .severalProcesses`; "
            + "logstore-inspect reads beside it"
      )
    case .networkFileSystem(let path, let type):
      ErrorExplanation(
        "several processes cannot write a store on a network file system",
        place: path,
        expected: "a file system of this host",
        found: type,
        advice: "put the store on a local disk, or have one process alone write it"
      )
    case .turnTimeout(let path, let waited, let holder):
      ErrorExplanation(
        "another process has kept its turn to write the store",
        place: path,
        expected: "the turn of this process within \(waited)",
        found: holder,
        advice: "let that process go on, or end it, and save again: nothing was written"
      )
    case .readOnly(let path):
      ErrorExplanation(
        "the store was opened read-only",
        place: path,
        expected: "a store that is open for writing",
        advice: "open it for writing"
      )
    case .closed(let path):
      ErrorExplanation(
        "the store is closed",
        place: path,
        advice: "open it again"
      )
    case .missingFolder(let path):
      ErrorExplanation(
        "the folder does not exist that the store is to be made in",
        place: path,
        advice: "make that folder first, or give another path; nothing was changed"
      )
    case .destinationExists(let path):
      ErrorExplanation(
        "the destination already exists",
        place: path,
        expected: "nothing, or an empty folder",
        advice: "give another path"
      )
    case .numbersSpent(let path, let limit):
      ErrorExplanation(
        "the store has no number left",
        place: path,
        expected: "numbers below \(limit)",
        advice: "it can be read; `logstore-inspect salvage` makes one that counts anew"
      )
    case .unknownCommit(let sequence, let newest):
      ErrorExplanation(
        "there is no such commit yet",
        expected: "a number up to \(newest.rawValue)",
        found: "\(sequence.rawValue)",
        advice: "refresh a store that another process writes to, or name an earlier commit"
      )
    case .commitGone(let sequence, let oldest):
      ErrorExplanation(
        "the state after that commit can no longer be read: it was packed",
        expected: "a number from \(oldest.rawValue) on",
        found: "\(sequence.rawValue)",
        advice: "keep more history, or read a later commit"
      )
    default: preconditionFailure("explained elsewhere")
    }
  }
}

// MARK: Errors of a batch

extension StorageError {
  private var batchExplanation: ErrorExplanation {
    switch self {
    case .rowNotFound(let row):
      ErrorExplanation(
        "a row to update or delete does not exist",
        found: "no \(row.words)",
        advice: "insert it, or leave it out of the batch"
      )
    case .rowExists(let row):
      ErrorExplanation(
        "a row to insert exists, or existed",
        found: row.words,
        advice: "insert it under a key that was never used"
      )
    case .duplicateRow(let row):
      ErrorExplanation(
        "a batch names a row twice",
        found: row.words,
        advice: "put all changes of a row together"
      )
    case .invalidRow(let row, let layout):
      ErrorExplanation(
        "the bytes of a row do not match its layout",
        expected: "a row of layout \(layout.rawValue)",
        found: row.words,
        advice: "write it with that layout's columns"
      )
    case .unknownLayout(let table, let layout):
      ErrorExplanation(
        "a table has no such layout",
        expected: "a layout of table \(table)",
        found: "layout \(layout.rawValue)",
        advice: "add the layout to the catalogue first"
      )
    case .unknownTable(let table):
      ErrorExplanation(
        "the catalogue has no such table",
        found: "table \(table)",
        advice: "add the table to the catalogue first"
      )
    case .foreignBlob(let row, let blob):
      ErrorExplanation(
        "a row names a blob that is neither new in the batch nor its own",
        expected: "a blob that \(row.words) owns",
        found: "blob \(blob.id.rawValue)",
        advice: "write the value into a new blob: no two rows share one"
      )
    case .invalidKey(let row):
      ErrorExplanation(
        "a key is zero, or greater than the index can hold",
        expected: "a key from 1 to \(RowReference.maximumStoredKey)",
        found: row.words
      )
    case .tooLarge(let byteCount, let limit):
      ErrorExplanation(
        "a row, a commit or an author's name is too large",
        expected: "at most \(limit) bytes",
        found: "\(byteCount) bytes",
        advice: "put large values into blobs, or split the batch"
      )
    case .invalidCatalogueChange(let problem):
      ErrorExplanation(
        "a catalogue change conflicts with the catalogue: \(problem.words)",
        advice: "compare the change with the catalogue of the newest commit"
      )
    default: preconditionFailure("explained elsewhere")
    }
  }
}

extension RowReference {
  fileprivate var words: String { "row \(key) of table \(table)" }
}

extension CatalogueProblem {
  fileprivate var words: String {
    switch self {
    case .tableExists(let name): "there is a table \(name)"
    case .columnExists(let table, let name): "table \(table) has a column \(name)"
    case .unknownTable(let table): "there is no table \(table)"
    case .unknownColumn(let table, let column): "table \(table) has no column \(column)"
    case .retiredColumn(let table, let column): "column \(column) of table \(table) is retired"
    case .repeatedColumn(let table, let column): "it names column \(column) of table \(table) twice"
    case .emptyName: "a name is empty"
    case .nameTooLong(let byteCount): "a name has \(byteCount) bytes"
    case .tooManyTables: "the store has had as many tables as it can number"
    case .tooManyColumns(let table): "table \(table) has had as many columns as it can number"
    case .tooManyLayouts(let table): "table \(table) has had as many layouts as it can number"
    case .valueTooLarge(let byteCount, let limit):
      "a value has \(byteCount) bytes; the limit is \(limit)"
    }
  }
}

extension FileOperation {
  /// The operation in words, with its object.
  fileprivate var words: String {
    switch self {
    case .makeDirectory: "make a folder of the store"
    case .synchronizeDirectory: "synchronize a folder of the store"
    case .list: "list a folder of the store"
    case .size: "look at a file of the store"
    case .open, .read, .write, .synchronize, .allocate, .truncate, .map, .rename, .link, .unlink,
      .lock:
      "\(rawValue) a file of the store"
    }
  }

  fileprivate func advice(for errno: Int32) -> String {
    switch errno {
    case EMFILE, ENFILE: "raise the limit of open files (`ulimit -n`) and try again"
    case EACCES, EPERM: "check the permissions of the path and its folders"
    default: "check the path, its permissions and the disk"
    }
  }
}
