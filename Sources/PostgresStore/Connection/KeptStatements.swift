#if PostgreSQL
/// The statements that a session's server keeps under names, so that it does not read and plan them again.
///
/// Only a session that belongs to one server for its whole life has them: behind a pooler each transaction may get another
/// one. They are given up if the server reports an unknown name, or a plan that does not fit the tables any more.
struct KeptStatements {
  /// The identity of a statement: the types of the parameters are a part of what the server keeps.
  struct Key: Hashable {
    let sql: String
    let types: [ServerType]

    init(_ statement: Statement) {
      sql = statement.sql
      types = statement.parameters.types
    }

    /// Few statements agree in their length and their ends, and all of a text would be read for each that is sent.
    func hash(into hasher: inout Hasher) {
      var text = sql
      text.withUTF8 { characters in
        let bytes = UnsafeRawBufferPointer(characters)
        hasher.combine(bytes.count)
        hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes.prefix(32)))
        hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes.suffix(32)))
      }
    }
  }

  /// Whether any are kept.
  var isOn = false
  private var names: [Key: String] = [:]
  private var nameCount = 0
  /// Number of kept statements of fetches.
  private var fetchCount = 0
  /// The statements that were sent once, and may be sent again.
  private var candidates: Set<Key> = []

  /// More than the saves of an app have.
  private static let limit = 256
  /// Limit of the kept statements of fetches: fetches whose text is another each time have no end.
  private static let fetchLimit = 128

  /// The name of a statement that the server has.
  func name(of key: Key) -> String? { names[key] }

  /// A name for a statement that the server is to keep; `nil` if it is to keep no more, or waits for its return.
  mutating func makeName(for key: Key, _ repetition: Statement.Repetition) -> String? {
    guard isOn, names.count < KeptStatements.limit else { return nil }
    switch repetition {
    case .none: return nil
    case .possible:
      guard fetchCount < KeptStatements.fetchLimit else { return nil }
      guard candidates.remove(key) != nil else {
        if candidates.count >= KeptStatements.limit { candidates = [] }
        candidates.insert(key)
        return nil
      }
      fetchCount += 1
    case .certain: break
    }
    nameCount += 1
    return "logstore_\(nameCount)"
  }

  /// Notes that the server has a statement.
  mutating func add(_ key: Key, _ name: String) { names[key] = name }

  /// Gives up all of them.
  mutating func giveUp() {
    isOn = false
    names = [:]
    candidates = []
  }
}

extension PostgresStoreError.ServerError {
  /// Whether a kept statement is the reason: it is not in the session, another one has its name, or its plan is out of date.
  var isAboutKeptStatement: Bool {
    ["26000", "42P05", "0A000"].contains(state)
  }
}
#endif
