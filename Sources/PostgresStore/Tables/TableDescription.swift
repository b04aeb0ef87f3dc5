#if PostgreSQL
import ModelRuntime
package import RowFormat

/// A table without the class it is of: what a store has to know to hand its rows to another.
///
/// The types of SQL do not tell a reference from an integer, nor an external value from bytes. So a namespace keeps the
/// columns of each table among its metadata, a line for each: the type's name, "?" if the property is optional, and the
/// column's name.
package struct TableDescription: Sendable, Hashable {
  /// A column of a row.
  package struct Column: Sendable, Hashable {
    package let name: String
    package let type: ColumnType
    package let isNullable: Bool

    package init(name: String, type: ColumnType, isNullable: Bool) {
      self.name = name
      self.type = type
      self.isNullable = isNullable
    }
  }

  package let name: String
  package let number: UInt16
  /// The key that the next new row gets, if no other was given out since.
  package var nextKey: UInt64
  /// The columns, in the order of rows.
  package let columns: [Column]

  package init(name: String, number: UInt16, nextKey: UInt64, columns: [Column]) {
    self.name = name
    self.number = number
    self.nextKey = nextKey
    self.columns = columns
  }

  /// The table without what changes with each row: equal, if rows of the two mean the same.
  package var withoutKeys: TableDescription {
    var description = self
    description.nextKey = 0
    return description
  }

  /// The layout of the table's rows.
  package var layout: RowLayout { RowLayout(columns.map(\.type)) }
}

extension TableDescription {
  /// The key of the columns among the metadata of a namespace.
  static func metadataKey(of table: String) -> String { "columns.\(table)" }

  /// The columns as metadata.
  var columnsText: String { TableDescription.text(of: columns) }

  static func text(of columns: [Column]) -> String {
    columns.map { "\(word(for: $0.type))\($0.isNullable ? "?" : "") \($0.name)" }
      .joined(separator: "\n")
  }

  /// Reads columns from metadata; `nil` if the text says nothing of the kind.
  static func columns(from text: String) -> [Column]? {
    var columns: [Column] = []
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2 else { return nil }
      let isNullable = parts[0].hasSuffix("?")
      let word = isNullable ? parts[0].dropLast() : parts[0]
      guard let type = ColumnType.allCases.first(where: { self.word(for: $0) == word }) else {
        return nil
      }
      columns.append(Column(name: String(parts[1]), type: type, isNullable: isNullable))
    }
    return columns
  }

  /// The columns of a class.
  static func columns(of descriptor: ModelDescriptor) -> [Column] {
    (0..<descriptor.layout.count).map { position in
      Column(
        name: descriptor.columnName(position),
        type: descriptor.layout.types[position],
        isNullable: position >= descriptor.properties.count
          || descriptor.properties[position].isOptional
      )
    }
  }

  private static func word(for type: ColumnType) -> String {
    switch type {
    case .integer: "integer"
    case .double: "double"
    case .bool: "bool"
    case .date: "date"
    case .uuid: "uuid"
    case .reference: "reference"
    case .text: "text"
    case .bytes: "bytes"
    case .references: "references"
    case .structured: "structured"
    case .blob: "blob"
    }
  }
}

extension MappedColumn.Kind {
  /// The kind of column that keeps values of a type, where the class of a composite value is unknown.
  init(_ type: ColumnType) {
    self =
      switch type {
      case .integer: .integer
      case .double: .double
      case .bool: .bool
      case .date: .date
      case .uuid: .uuid
      case .reference: .reference
      case .text: .text
      case .bytes: .bytes
      case .references: .references
      case .structured: .composite
      case .blob: .external
      }
  }
}
#endif
