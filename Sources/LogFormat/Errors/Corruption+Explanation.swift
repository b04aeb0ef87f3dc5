extension Corruption: CustomStringConvertible {
  /// The damage, its place, the expected and found values, and advice, on one line.
  public var description: String { explanation.description }

  /// The damage in words, in parts.
  public var explanation: ErrorExplanation {
    let (part, expected, found) = problem.explanation
    return ErrorExplanation(
      "the store is damaged: \(part)",
      place: "\(path), byte \(offset)",
      expected: expected,
      found: found,
      advice: problem.part == .checkpoint ? Self.checkpointAdvice : StorageError.damageAdvice
    )
  }

  private static let checkpointAdvice =
    "nothing needs to be done: the log has all that a checkpoint repeats, and the next checkpoint replaces this one"
}

extension Corruption.Problem {
  /// The damaged part, with the expected and found values.
  public var explanation: (part: String, expected: String?, found: String?) {
    switch self {
    case .checksumMismatch(let part, let expected, let found):
      ("the checksum of a \(part.words)", Self.checksum(expected), Self.checksum(found))
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

  /// The damaged part; `nil` for the log as a whole.
  fileprivate var part: Corruption.Part? {
    switch self {
    case .checksumMismatch(let part, _, _), .invalidField(let part, _, _, _),
      .truncated(let part, _, _), .missing(let part), .inconsistent(let part, _, _):
      part
    case .lostDurableBytes: nil
    }
  }

  private static func checksum(_ value: UInt32) -> String {
    "0x" + hexadecimal(UInt64(value), digits: 8)
  }
}

extension Corruption.Part {
  /// The name of the part in words: `segmentHeader` becomes "segment header".
  fileprivate var words: String { rawValue.separatedWords }
}

extension String {
  /// A name in camel case, split into words.
  fileprivate var separatedWords: String {
    reduce(into: "") { text, character in
      text += character.isUppercase ? " " + character.lowercased() : String(character)
    }
  }
}
