#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

/// A column of a row, and the column of a table that keeps its values.
struct MappedColumn: Sendable {
  /// The kind of values that a table's column holds.
  enum Kind: Sendable, Hashable {
    case bool, integer, double, date, uuid, text, bytes
    /// A `Decimal`, which rows keep as a composite.
    case decimal
    /// A composite value, as jsonb.
    case composite
    /// A value that may be large: the row says how long it is, and it is read when it is touched.
    case external
    /// The `_id` of another row.
    case reference
    /// The `_id`s of the members of a list that is kept with its owner.
    case references
  }

  let name: String
  let kind: Kind
  /// The position in rows.
  let position: Int
}

extension MappedColumn.Kind {
  /// The column's type as SQL declares it.
  var declaration: String {
    switch self {
    case .bool: "boolean"
    case .integer, .reference: "bigint"
    case .double: "double precision"
    case .date: "timestamp with time zone"
    case .uuid: "uuid"
    case .text: "text"
    case .bytes, .external: "bytea"
    case .decimal: "numeric"
    case .composite: "jsonb"
    case .references: "bigint[]"
    }
  }

  /// The rest of the declaration, after the type.
  var collation: String { self == .text ? " COLLATE \"C\"" : "" }

  /// The type of a parameter with such a value.
  var parameterType: ServerType {
    switch self {
    case .bool: .bool
    case .integer, .reference: .bigint
    case .double: .double
    case .date: .timestamp
    case .uuid: .uuid
    case .text: .text
    case .bytes, .external: .bytea
    case .composite: .jsonb
    // Arrays of arrays are of one length each, and numbers have no simple binary form: both travel as text.
    case .decimal, .references: .text
    }
  }

  /// The cast that makes the parameter a value of the column.
  var cast: String {
    switch self {
    case .decimal: "::numeric"
    case .references: "::bigint[]"
    default: ""
    }
  }
}

extension MappedColumn {
  /// The columns of a class, in the order of its rows.
  static func columns(of descriptor: ModelDescriptor) -> [MappedColumn] {
    (0..<descriptor.layout.count).map { position in
      MappedColumn(
        name: descriptor.columnName(position),
        kind: kind(of: position, in: descriptor),
        position: position
      )
    }
  }

  private static func kind(of position: Int, in descriptor: ModelDescriptor) -> Kind {
    switch descriptor.layout.types[position] {
    case .integer: return .integer
    case .double: return .double
    case .bool: return .bool
    case .date: return .date
    case .uuid: return .uuid
    case .reference: return .reference
    case .text: return .text
    case .bytes: return .bytes
    case .references: return .references
    case .blob: return .external
    case .structured:
      let property = descriptor.properties[position]
      let type = Swift.type(of: property.keyPath).valueType
      return type == Decimal.self || type == Decimal?.self
        ? .decimal : .composite
    }
  }
}

/// Expressions that compare and order columns in SQL as Swift compares and orders their values.
enum SQLColumn {
  /// A column as an operand of a comparison or a sort.
  ///
  /// Swift compares text by canonical equivalence, and orders it by the scalars of its normal form.
  static func ordered(_ column: String, _ kind: MappedColumn.Kind) -> String {
    kind == .text ? "normalize(\(column), NFC) COLLATE \"C\"" : column
  }
}
#endif
