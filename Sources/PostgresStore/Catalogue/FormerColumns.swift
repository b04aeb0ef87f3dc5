#if PostgreSQL
import ModelRuntime
import RowFormat

/// The columns of an entity as the models before had them.
struct FormerColumns {
  /// The class in the version that a step of a plan begins with; `nil` without a step, and if it comes with the step.
  let descriptor: ModelDescriptor?
  /// Whether a step of a plan tells what there was.
  let isPlanned: Bool
  /// The columns of the models that opened the namespace last, by name; none if that is not known.
  private let described: [String: TableDescription.Column]
  /// The records of the namespace about properties, by their present names; including properties that the models lack.
  private(set) var properties: [String: StoredProperty]
  /// The columns that are still there, though a step has let go of them.
  let gone: Set<String>
  /// The former names of the columns that were renamed.
  private(set) var origins: [String: String] = [:]

  init(of entity: String, in former: Schema?, _ metadata: [String: String]) {
    descriptor = former?.descriptor(named: entity)
    isPlanned = former != nil
    let text = metadata[TableDescription.metadataKey(of: entity)] ?? ""
    described = Dictionary(
      (TableDescription.columns(from: text) ?? []).map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    properties = StoredProperty.properties(
      from: metadata[StoredProperty.metadataKey(of: entity)]
    )
    gone = Set(
      (metadata[FormerColumns.goneKey(of: entity)] ?? "").split(separator: "\n").map(String.init)
    )
  }

  /// The key, among the metadata of a namespace, of the columns that steps have let go of.
  static func goneKey(of entity: String) -> String { "gone.\(entity)" }

  /// Whether the namespace has a record of the models that opened it last.
  var isKnown: Bool { !described.isEmpty }

  /// The column of a name in the models before.
  func column(_ name: String) -> TableDescription.Column? { described[origins[name] ?? name] }

  /// The values of a column; `nil` if the namespace does not say.
  func values(_ name: String) -> StoredValues? {
    properties[name]?.values.flatMap { StoredValues($0) }
  }

  /// The former kind of the other end of a relationship; `nil` if the namespace does not say.
  func inverse(_ name: String) -> InverseKind? { properties[name]?.inverse }

  /// Forgets the record of a column that begins anew.
  mutating func forget(_ name: String) { properties[name] = nil }

  /// Notes that columns have other names now: a former one may be another property's from now on.
  mutating func rename(_ renamings: [(old: String, new: String)]) {
    let former = properties
    for (old, _) in renamings { properties[old] = nil }
    for (old, new) in renamings {
      origins[new] = old
      properties[new] = former[old]
    }
  }

  /// The property of the version before that has become one of a name.
  func property(_ name: String) -> ModelProperty? {
    descriptor?.property(named: origins[name] ?? name)
  }

  /// Whether the version before a step had a column, under the name it has now or had then.
  func has(_ name: String) -> Bool { names.contains(origins[name] ?? name) }

  /// The names of the columns of the version before a step.
  var names: Set<String> {
    Set(descriptor.map(MappedColumn.columns)?.map(\.name) ?? [])
  }

  /// Whether a step has let go of a column, so that no values of it are asked for: where that was not noted, because the
  /// version before lacks it.
  func letsGo(of name: String) -> Bool { gone.contains(name) || isPlanned && !has(name) }

  /// Whether a column is from before an earlier step that has let go of it, and begins anew in this one.
  func beginsAnew(_ name: String) -> Bool { isPlanned && gone.contains(name) && !has(name) }
}
#endif
