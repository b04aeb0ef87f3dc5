#if PostgreSQL
import Foundation

/// An error of moving a store.
///
/// The source is as it was, and at the target there is nothing.
package enum MoveError: Error, Hashable, Sendable {
  /// The place to move to has something in it already.
  case targetNotEmpty(String, found: String)
  /// The namespace does not hold what its metadata says, or what this version knows.
  case otherSchema(namespace: String, expected: String, found: String)
  /// There is no store where one was to be read.
  case noStore(String)
  /// Another process writes to the source.
  case sourceInUse(String, by: String)
  /// A value that the other side cannot hold.
  case unstorableValue(table: String, key: UInt64, column: String, reason: String)
  /// The target reads back as something else.
  case digestsDiffer(table: String, source: RowDigest, target: RowDigest)
  /// The target has another number of rows than the source, though each change was compared.
  case rowsMissed(table: String, source: Int, target: Int)
  /// Everything had to be copied anew, again and again.
  case sourceTooFast(String, attempts: Int)
  /// The source has no models in it.
  case noModels(String)
}

extension MoveError: CustomStringConvertible, LocalizedError {
  package var description: String {
    switch self {
    case .targetNotEmpty(let place, let found): "\(place) is not empty: it has \(found)"
    case .otherSchema(let namespace, let expected, let found):
      "schema \(namespace) is not as a store leaves it: expected \(expected), found \(found)"
    case .noStore(let place): "there is no store in \(place)"
    case .sourceInUse(let place, let holder): "\(place) is written to by \(holder)"
    case .unstorableValue(let table, let key, let column, let reason):
      "\(table)/\(key), column \(column), cannot be moved: \(reason)"
    case .digestsDiffer(let table, let source, let target):
      "\(table) reads back as something else: \(source.rowCount) rows with digest \(source), then "
        + "\(target.rowCount) rows with digest \(target)"
    case .rowsMissed(let table, let source, let target):
      "\(table) has \(source) rows at the source and \(target) at the target, though each change was compared: rows "
        + "were written without a note in the history"
    case .sourceTooFast(let place, let attempts):
      "\(place) was copied \(attempts) times, and each time its tables were changed, or its history was packed or "
        + "deleted, before what came next was read"
    case .noModels(let place): "\(place) has no tables of models in it"
    }
  }

  package var errorDescription: String? { description }
}
#endif
