import Foundation
import RowFormat

/// The sort keys of models as the store has them, for a fetch where the context may have others.
///
/// A store sorts by saved values, also by those at the ends of relationships, where models in the context may have unsaved or
/// outdated ones. An unchanged model therefore takes its keys from rows: unsaved models are then merged into a list that is in the
/// order they are compared by, and a page begins where the previous one ended.
final class StoredKeys {
  private let ordering: RowOrdering
  private let rows: any RowResolver
  /// Whether models that have unsaved changes have a place by these.
  private let includesUnsaved: Bool
  private var readers: [ObjectIdentifier: [RowReader<QueryValue>]] = [:]
  private let scope = QueryScope()

  /// - Parameters:
  ///   - ordering: The order of the fetch.
  ///   - rows: The rows of the store.
  ///   - includesUnsaved: Whether models that have unsaved changes have a place by these.
  init(_ ordering: RowOrdering, _ rows: any RowResolver, includesUnsaved: Bool) {
    self.ordering = ordering
    self.rows = rows
    self.includesUnsaved = includesUnsaved
  }

  /// The keys of a model's row; `nil` if the model has its place by its values in the context.
  ///
  /// - Throws: An error of reading rows.
  func values(of model: any PersistentModel, at row: RowReference?) throws -> [QueryValue]? {
    guard let row, !(includesUnsaved && model.hasChanges) else { return nil }
    let type = model.descriptor
    let readers =
      readers[ObjectIdentifier(type)] ?? ordering.makeReaders(for: type, rows)
    self.readers[ObjectIdentifier(type)] = readers
    var values: [QueryValue]?
    _ = try rows.withRow(row) { bytes in
      values = try readers.map { try $0(bytes, row, scope) }
    }
    return values
  }
}

extension RowOrdering {
  /// Whether a key is of a model that relationships lead to.
  var followsRelationships: Bool {
    keys.contains { key in
      switch key.source {
      case .column(let path, _), .identifier(let path): !path.steps.isEmpty
      }
    }
  }
}
