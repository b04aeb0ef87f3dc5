import Foundation
public import LogEngine

extension ToolError {
  /// Says what an engine's error means to the user of a command.
  public init(_ error: StorageError, at store: String) {
    switch error {
    case .unexpectedFile(let path, let expected, let found):
      self.init(
        "the store holds something else than a store does",
        place: path,
        expected: expected.rawValue,
        found: found.rawValue,
        advice: "nothing was followed or changed; remove it, or restore the store from a copy",
        status: .damaged
      )
    case .inputOutput(let path, let operation, let errno):
      self.init(
        "the system refused to \(operation.words): \(String(cString: strerror(errno)))",
        place: path,
        advice: operation.advice(for: errno)
      )
    case .noSpace(let path, let needed):
      self.init(
        "the disk is full",
        place: path,
        expected: "room for \(needed.byteCount)",
        advice: "make room and try again: what was saved before is safe"
      )
    case .missingStore(let path):
      self.init(
        "there is no store",
        place: path,
        expected: "the folder of a log store",
        found: Self.kind(of: path),
        advice: "check the path"
      )
    case .notAStore(let path, let found):
      self.init(
        "what lies there is not a log store",
        place: path,
        expected: "the folder of a log store",
        found: found,
        advice: "give another path; nothing was changed"
      )
    case .foreignStore(let path, let expected, let found):
      self.init(
        "the store belongs to another program",
        place: path,
        expected: expected,
        found: found,
        advice: "give another path; nothing was changed"
      )
    case .unsupportedVersion(let path, let found, let supported):
      self.init(
        "the store was written by a newer version",
        place: path,
        expected: "format \(supported) or older",
        found: "format \(found)",
        advice: "use the version that wrote it"
      )
    case .unsupportedFeatures(let path, let bits):
      self.init(
        "the store uses features this version does not know",
        place: path,
        found: "feature bits 0x\(String(bits, radix: 16))",
        advice: "use the version that wrote it"
      )
    case .locked(let path, let holder):
      self.init(
        "the store is in use",
        place: path,
        expected: "no other writer",
        found: holder,
        advice: "end that process first; logstore-inspect reads beside it",
        status: .locked
      )
    case .missingFile(let path):
      self.init(
        "the store is damaged: a file is missing",
        place: path,
        advice: "restore the store from a copy, or `logstore-inspect salvage` what can be read",
        status: .damaged
      )
    case .corruption(let corruption): self.init(corruption)
    case .destinationExists(let path):
      self.init(
        "there is something already",
        place: path,
        expected: "nothing, or an empty folder",
        advice: "give another path"
      )
    case .unknownCommit(let sequence, let newest):
      self.init(
        "there is no such commit yet",
        place: store,
        expected: "a number up to \(newest.rawValue)",
        found: "\(sequence.rawValue)"
      )
    case .commitGone(let sequence, let oldest):
      self.init(
        "the state after that commit can no longer be read: it was packed",
        place: store,
        expected: "a number from \(oldest.rawValue) on",
        found: "\(sequence.rawValue)"
      )
    case .poisoned(_, let cause):
      let cause = Self(cause, at: store)
      self.init(
        "a write failed, and no further one can be trusted: \(cause.what)",
        place: cause.place ?? store,
        found: cause.found,
        advice: "what was saved before is safe; check the disk and open the store again"
      )
    default: self.init("the store cannot be used: \(error)", place: store)
    }
  }

  private init(_ corruption: Corruption) {
    let (part, expected, found) = corruption.problem.explanation
    self.init(
      "the store is damaged: \(part)",
      place: "\(corruption.path), byte \(corruption.offset)",
      expected: expected,
      found: found,
      advice: "restore the store from a copy, or `logstore-inspect salvage` what can be read",
      status: .damaged
    )
  }

  private static func kind(of path: String) -> String {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      return "nothing of that name"
    }
    return isFolder.boolValue ? "a folder without a store" : "a file"
  }
}

extension StorageError {
  /// What is wrong, in a few words without a place: for lists that have one already.
  public var words: String {
    if case .corruption(let corruption) = self { return corruption.problem.explanation.part }
    return ToolError(self, at: "").what
  }
}

extension Corruption.Problem {
  /// Which part is damaged, what it should be, and what it is.
  public var explanation: (part: String, expected: String?, found: String?) {
    switch self {
    case .checksumMismatch(let part, let expected, let found):
      ("the checksum of a \(part.words)", "0x\(expected.hexadecimal)", "0x\(found.hexadecimal)")
    case .invalidField(let part, let name, let expected, let found):
      ("\(name) of a \(part.words)", "\(expected)", "\(found)")
    case .truncated(let part, let needed, let available):
      ("a \(part.words) is cut off", "\(needed) bytes", "\(available) bytes")
    case .lostDurableBytes(let position, let durable, let witness):
      (
        "the log ends before what was once on disk",
        "\(durable) bytes, as the \(witness.rawValue.separatedWords) says",
        "\(position) bytes"
      )
    case .missing(let part): ("a \(part.words) is missing", nil, nil)
    case .inconsistent(let part, let table, let key):
      ("a \(part.words) refers to a row that cannot be", nil, "row \(key) of table \(table)")
    }
  }
}

extension Corruption.Part {
  /// `segmentHeader` as people write it.
  fileprivate var words: String { rawValue.separatedWords }
}

extension FileOperation {
  /// What was to be done, with its object.
  fileprivate var words: String {
    switch self {
    case .makeDirectory: "make a folder of the store"
    case .synchronizeDirectory: "synchronize a folder of the store"
    case .list: "list a folder of the store"
    case .size: "look at a file of the store"
    default: rawValue.separatedWords + " a file of the store"
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

extension String {
  fileprivate var separatedWords: String {
    reduce(into: "") { text, character in
      text += character.isUppercase ? " " + character.lowercased() : String(character)
    }
  }
}

extension UInt32 {
  fileprivate var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}
