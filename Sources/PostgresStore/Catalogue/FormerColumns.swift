#if PostgreSQL
import ModelRuntime
import RowFormat

/// What the columns of an entity were to the models before.
struct FormerColumns {
  /// The class in the version that a step of a plan begins with; `nil` without a step, and if it comes with the step.
  let descriptor: ModelDescriptor?
  /// The columns of the models that opened the namespace last, by name; none where that is not known.
  private let described: [String: TableDescription.Column]
  /// The former names of those that were renamed.
  var origins: [String: String] = [:]

  init(of entity: String, in former: Schema?, _ metadata: [String: String]) {
    descriptor = former?.modelTypes.map { ModelDescriptor.of($0) }.first {
      $0.entityName == entity
    }
    let text = metadata[TableDescription.metadataKey(of: entity)] ?? ""
    described = Dictionary(
      (TableDescription.columns(from: text) ?? []).map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// Whether the namespace says what the models had that opened it last.
  var isKnown: Bool { !described.isEmpty }

  /// What the models before had of a column.
  func column(_ name: String) -> TableDescription.Column? { described[origins[name] ?? name] }
}
#endif
