#if PostgreSQL
import Synchronization

/// The change of the rows of a run.
enum RunKind {
  case insert, delete
  /// Each row gets values of its own.
  case update
  /// All rows get the same values, or the same numbers are added to theirs.
  case assign

  /// Whether rows that are there get new values.
  var isUpdate: Bool { self == .update || self == .assign }

  /// The name in the history.
  fileprivate var noted: String {
    switch self {
    case .insert: "insert"
    case .update, .assign: "update"
    case .delete: "delete"
    }
  }
}

/// The statements of a store that write rows, by kind of run: made once, since composing them takes longer than sending
/// them.
final class RunTexts: Sendable {
  /// The places that the changes of a run have in their save.
  enum Numbering {
    /// There is one change, whose values are no arrays.
    case single
    /// Each follows the one before it.
    case successive
    /// Changes of other runs are between them.
    case scattered
  }

  /// The identity of the statements of a run.
  struct Key: Hashable {
    private let table: UInt16
    let kind: RunKind
    let numbering: Numbering
    fileprivate let columns: [Column]

    fileprivate struct Column: Hashable {
      let position: Int
      let source: Source
    }

    /// The source of a column's new value.
    fileprivate enum Source: Hashable {
      case parameter
      /// The time of the save.
      case time
      /// The stored value, and a number.
      case sum(ColumnAddition)
    }

    /// - Parameters:
    ///   - kind: The change of the rows.
    ///   - table: Their table.
    ///   - numbering: The places of the changes.
    ///   - given: The columns whose values the rows have.
    ///   - dated: The columns that get the time of the save.
    ///   - added: The columns to which a number is added.
    init(
      _ kind: RunKind,
      _ table: MappedTable,
      _ numbering: Numbering,
      given: [MappedColumn],
      dated: [MappedColumn],
      added: [(column: MappedColumn, addition: ColumnAddition)]
    ) {
      self.kind = kind
      self.table = table.number
      self.numbering = numbering
      columns =
        given.map { Column(position: $0.position, source: .parameter) }
        + dated.map { Column(position: $0.position, source: .time) }
        + added.map { Column(position: $0.column.position, source: .sum($0.addition)) }
    }
  }

  /// The statement that makes the changes, and the one that writes them down in the history.
  struct Texts {
    let change: String
    let note: String
  }

  private let known = Mutex<[Key: Texts]>([:])

  /// More than an app has: sets of columns that are changed together.
  private static let limit = 1024

  /// The statements of a run that deletes nothing.
  func texts(of key: Key, in table: MappedTable, _ namespace: String) -> Texts {
    known.withLock { known in
      if let texts = known[key] { return texts }
      let texts = Texts(change: key.change(in: table), note: key.note(namespace))
      if known.count >= RunTexts.limit { known.removeAll() }
      known[key] = texts
      return texts
    }
  }
}

extension RunTexts.Key {
  private func given(in table: MappedTable) -> [MappedColumn] {
    columns.lazy.filter { $0.source == .parameter }.map { table.columns[$0.position] }
  }

  private func dated(in table: MappedTable) -> [MappedColumn] {
    columns.lazy.filter { $0.source == .time }.map { table.columns[$0.position] }
  }

  private var isSingle: Bool { numbering == .single }

  fileprivate func note(_ namespace: String) -> String {
    let columns = kind.isUpdate ? ", columns" : ""
    let values = "'\(kind.noted)'" + (kind.isUpdate ? ", $3" : "")
    let source =
      switch numbering {
      case .single: "VALUES ($1, $2, \(values))"
      case .successive:
        "SELECT r, $2 + o - 1, \(values) FROM unnest($1::bigint[]) WITH ORDINALITY AS u(r, o)"
      case .scattered:
        "SELECT r, o, \(values) FROM unnest($1::bigint[], $2::bigint[]) AS u(r, o)"
      }
    return
      "INSERT INTO \(namespace.quotedName)._logstore_change (row, ordinal, kind\(columns)) \(source)"
  }

  fileprivate func change(in table: MappedTable) -> String {
    switch kind {
    case .insert: insertion(in: table)
    // Nothing has to be written of a value that is on the server already.
    case .update where columns.isEmpty:
      "SELECT 1 FROM \(table.name) WHERE \(MappedTable.key) = \(isSingle ? "$1" : "ANY ($1)") FOR UPDATE"
    case .update: update(in: table)
    case .assign: assignment(in: table)
    case .delete: preconditionFailure("a delete has one statement")
    }
  }

  private func insertion(in table: MappedTable) -> String {
    let (given, dated) = (given(in: table), dated(in: table))
    let names = (given + dated).map { ", \($0.name.quotedName)" }.joined()
    let target = "INSERT INTO \(table.name) (\(MappedTable.key)\(names))"
    let times = dated.map { _ in ", now()" }.joined()
    if isSingle {
      return "\(target) VALUES ($1\(parameters(given).map { ", " + $0 }.joined())\(times))"
    }
    let values = given.enumerated().map { ", c\($0)\($1.kind.cast)" }.joined()
    return "\(target) SELECT k\(values)\(times) FROM \(arrays(given))"
  }

  private func update(in table: MappedTable) -> String {
    let (given, dated) = (given(in: table), dated(in: table))
    let values =
      isSingle
      ? parameters(given) : given.enumerated().map { "v.c\($0)\($1.kind.cast)" }
    let assignments =
      zip(given, values).map { "\($0.name.quotedName) = \($1)" }
      + dated.map { "\($0.name.quotedName) = now()" }
    let target = "UPDATE \(table.name) AS t SET \(assignments.joined(separator: ", "))"
    return isSingle
      ? "\(target) WHERE t.\(MappedTable.key) = $1"
      : "\(target) FROM \(arrays(given)) WHERE t.\(MappedTable.key) = v.k"
  }

  /// The statement does not change a row whose new value the property's type could not hold.
  private func assignment(in table: MappedTable) -> String {
    var next = 2
    var assignments: [String] = []
    var conditions: [String] = []
    for column in columns {
      let name = table.columns[column.position].name.quotedName
      switch column.source {
      case .parameter:
        assignments.append("\(name) = $\(next)\(table.columns[column.position].kind.cast)")
        next += 1
      case .time: assignments.append("\(name) = now()")
      case .sum(let addition):
        assignments.append("\(name) = \(addition.sum("t.\(name)", next))")
        conditions += addition.condition("t.\(name)", next).map { [$0] } ?? []
        next += addition.parameterCount
      }
    }
    let target = "UPDATE \(table.name) AS t SET \(assignments.joined(separator: ", "))"
    // An array that is known when the server plans would have it look at each key; joined with the keys as a table, the rows
    // would take half as long again. So they are found in the order of their keys, and two batches do not wait crosswise.
    let keys = isSingle ? "$1" : "ANY ((SELECT $1)::bigint[])"
    let rows = "WHERE t.\(MappedTable.key) = \(keys)"
    return ([target + " " + rows] + conditions).joined(separator: " AND ")
  }

  /// The values of one row.
  private func parameters(_ columns: [MappedColumn]) -> [String] {
    columns.enumerated().map { "$\($0 + 2)\($1.kind.cast)" }
  }

  /// The arrays of keys and values, as a table in SQL.
  private func arrays(_ columns: [MappedColumn]) -> String {
    let arrays = columns.enumerated().map { ", $\($0 + 2)::\($1.kind.parameterType.array.name)" }
    let names = columns.indices.map { ", c\($0)" }
    return "unnest($1::bigint[]\(arrays.joined())) AS v(k\(names.joined()))"
  }
}
#endif
