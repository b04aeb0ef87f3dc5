import LogEngine
import Terminal

/// A commit that changed the catalogue.
struct SchemaVersion {
  let sequence: CommitSequence
  let microseconds: Int64
  let author: String?
  /// Its changes, in words.
  let changes: [String]

  /// All that are still in the log, oldest first.
  static func all(in store: InspectedStore) throws -> [SchemaVersion] {
    var versions: [SchemaVersion] = []
    var names: CatalogueNames?
    try store.forEachCommit { commit in
      // If the first were packed, today's names have to do.
      if names == nil {
        names = commit.sequence.rawValue == 1 ? CatalogueNames() : CatalogueNames(store.catalogue)
      }
      var words: [String] = []
      try commit.forEachChange { change in
        // The catalogue changes in commits of its own.
        guard case .catalogue(let changes) = change.kind else { return .stop }
        words += changes.compactMap { names?.words(for: $0) }
        return .proceed
      }
      if !words.isEmpty {
        versions.append(
          SchemaVersion(
            sequence: commit.sequence,
            microseconds: commit.microseconds,
            author: commit.author,
            changes: words
          )
        )
      }
      return .proceed
    }
    return versions
  }

  func heading(_ console: Console) -> String {
    let author = author.map { "  by " + $0.printable } ?? ""
    let number = console.styled("commit \(sequence.rawValue)", .yellow)
    return "\(number)  \(Timestamp(microseconds: microseconds))\(author)"
  }

  var item: JSONValue {
    [
      "commit": .unsigned(sequence.rawValue),
      "time": .string("\(Timestamp(microseconds: microseconds))"),
      "author": author.map(JSONValue.string) ?? .null,
      "changes": .array(changes.map(JSONValue.string)),
    ]
  }
}
