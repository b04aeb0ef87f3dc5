import LogEngine
import ModelRuntime

/// The entries of a catalogue that say which names columns had, and by which original name the present one came.
///
/// A column that was renamed, or whose property has an original name, has an entry, `names.<table>.<column>`, of lines of two
/// words:
///
///     original last     the property has the original name `last`
///     exchanged last    so it has, and another column had the property's name when this one got it
///     settled last      so it had, until models of a higher version had the property without an original name
///     was last          the column was called `last`
///
/// The first three exclude each other, and `was` may be repeated. `names.schema` is the version of the schema that wrote the
/// store last, as `schema.version` has it: beside another one the first three are worth nothing, since a library that does not
/// know the entries has written the store.
struct NameRecord: Equatable {
  /// The original name that the column's property has.
  var original: Original?
  /// The other names that the column had.
  var formerNames: [String] = []

  struct Original: Equatable {
    let name: String
    var state: State
  }

  /// Raw values are on disk.
  enum State: String {
    case original, exchanged, settled
  }

  private static let prefix = "names."
  private static let schemaKey = "names.schema"

  private static func key(_ column: UInt16, in table: UInt16) -> String {
    "\(prefix)\(table).\(column)"
  }

  /// The entry of a column; an empty one, if there is none.
  init(of column: UInt16, in table: UInt16, _ catalogue: Catalogue) {
    guard let bytes = catalogue.metadata[Self.key(column, in: table)] else { return }
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2 else { continue }
      if words[0] == "was" {
        formerNames.append(words[1])
      } else if let state = State(rawValue: words[0]) {
        original = Original(name: words[1], state: state)
      }
    }
  }

  /// The change that makes this the entry of a column.
  func change(of column: UInt16, in table: UInt16) -> CatalogueChange {
    let lines =
      (original.map { ["\($0.state.rawValue) \($0.name)"] } ?? []) + formerNames.map { "was \($0)" }
    return .setMetadata(
      key: Self.key(column, in: table),
      value: Array(lines.joined(separator: "\n").utf8)
    )
  }

  /// Whether the original names are those of the schema that wrote the store last.
  static func areValid(in catalogue: Catalogue) -> Bool {
    catalogue.metadata[schemaKey] == catalogue.metadata[CatalogueMapping.versionKey]
  }

  /// The change that says so of a schema.
  static func validity(for version: StoredSchemaVersion) -> CatalogueChange {
    .setMetadata(key: schemaKey, value: Array(version.description.utf8))
  }

  /// Whether a change only adds an entry: no store is in the wrong schema for want of one.
  static func isAddition(_ change: CatalogueChange, to catalogue: Catalogue) -> Bool {
    guard case .setMetadata(let key, _) = change else { return false }
    return key.hasPrefix(prefix) && catalogue.metadata[key] == nil
  }
}
