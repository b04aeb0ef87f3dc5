import LogEngine
import RowFormat
import Terminal

/// A change of the shown columns of a row.
struct ChangeDetail {
  /// A column that the change wrote.
  struct Column {
    let name: String
    /// The value before; `nil` in an insertion, and if the row before cannot be read any more.
    let before: CellValue?
    /// The value after; `nil` in a deletion.
    let after: CellValue?
  }

  let columns: [Column]

  /// Reads a change.
  ///
  /// Of a row that was written whole, the columns that differ from before are listed.
  init(_ change: LoggedChange, _ decoder: inout RowDecoder) throws {
    func cells(
      _ withRow: ((RawSpan, LayoutNumber) throws -> [RowDecoder.Cell]?) throws -> [RowDecoder
        .Cell]??
    ) throws -> [RowDecoder.Cell]? {
      let table = change.reference.table
      return try withRow { decoder.cells(of: $0, layout: $1, table: table) } ?? nil
    }
    let changed: ColumnSet? = if case .update(let changed) = change.kind { changed } else { nil }
    let named = changed.flatMap { changed in
      decoder.names(of: changed, layout: change.record.layout, table: change.reference.table)
    }
    let before = try? cells(change.withRowBefore)
    switch change.kind {
    case .catalogue: columns = []
    case .delete:
      let last = try before ?? cells(change.withRow) ?? []
      columns = last.map { Column(name: $0.name, before: $0.value, after: nil) }
    case .insert, .update:
      let old = Dictionary((before ?? []).map { ($0.name, $0.value) }) { first, _ in first }
      columns = (try cells(change.withRow) ?? []).compactMap { cell in
        let value = old[cell.name]
        if let named {
          guard named.contains(cell.name) else { return nil }
        } else if before != nil, value == cell.value {
          return nil
        }
        return Column(name: cell.name, before: value, after: cell.value)
      }
    }
  }

  /// The columns in one line: `name "Faro" → "Olhão", founded –`.
  var text: String {
    columns.map { column in
      let values = [column.before, column.after].compactMap { $0?.text }
      return column.name.printable + " " + values.joined(separator: " → ")
    }
    .joined(separator: ", ")
  }

  /// The columns for programs: an object of `{"before", "after"}` by name.
  var json: JSONValue {
    .object(
      columns.map { column in
        let values = [("before", column.before), ("after", column.after)]
        let members = values.compactMap { name, value in
          value.map { JSONValue.Member(name: name, value: $0.json) }
        }
        return JSONValue.Member(name: column.name, value: .object(members))
      }
    )
  }
}

extension LoggedChange.Kind {
  /// The kind of the change, in a word.
  var word: String {
    switch self {
    case .insert: "insert"
    case .update: "update"
    case .delete: "delete"
    case .catalogue: "schema"
    }
  }
}
