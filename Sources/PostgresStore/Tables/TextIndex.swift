#if PostgreSQL
/// The search of SQL for texts by their parts: with an index of trigrams, if the server has the extension `pg_trgm`.
///
/// The extension folds letters by the language of the database. The indexed text has no capital letters of ASCII, and the
/// searched text is ASCII, so that this makes no difference. Texts with anything but printable ASCII may be
/// equal to texts that look different; an index of their own has all of these, and each is a candidate.
enum TextIndex {
  /// The indexed text of a column.
  static func folded(_ column: String) -> String {
    "lower(\(SQLColumn.ordered(column, .text)))"
  }

  /// The condition that a text has anything but printable ASCII.
  static func hasOthers(_ column: String) -> String { "\(column) ~ '[^ -~]'" }

  /// The pattern of LIKE for texts that contain another.
  ///
  /// - Parameter text: ASCII.
  /// - Returns: The pattern, without capital letters.
  static func pattern(containing text: String) -> String { "%\(escaped(text))%" }

  /// The pattern of LIKE for texts that are another.
  ///
  /// - Parameter text: ASCII.
  /// - Returns: The pattern, without capital letters.
  static func pattern(equalTo text: String) -> String { escaped(text) }

  private static func escaped(_ text: String) -> String {
    String(
      decoding: text.utf8.flatMap { byte -> [UInt8] in
        switch byte {
        case UInt8(ascii: "%"), UInt8(ascii: "_"), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): [byte | 0x20]
        default: [byte]
        }
      },
      as: UTF8.self
    )
  }

  /// The longest run of ASCII in a text, if it has three characters, of which a trigram is made.
  ///
  /// Whatever contains the text contains the run.
  static func run(of text: String) -> String? {
    let runs = text.unicodeScalars.split { !$0.isASCII || $0.value == 0 }
    guard let longest = runs.max(by: { $0.count < $1.count }), longest.count >= 3 else {
      return nil
    }
    return String(String.UnicodeScalarView(longest))
  }
}
#endif
