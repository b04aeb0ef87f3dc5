import Foundation
import RowFormat

/// The conversion of a column's bytes into a value.
package struct ColumnReading: Sendable {
  /// The position among the columns of the class that declares the property, and of its subclasses.
  package let column: Int
  package let kind: QueryKind
  package let isOptional: Bool
  /// The value read if the column is null, or the row is missing though it should exist.
  package let absent: QueryValue
  /// For an enumeration, its raw values.
  package let enumeration: (any RawValues)?
}

extension ColumnReading {
  /// Makes the reading of an attribute, or `nil` if its column holds no values that an expression understands.
  package init?(_ property: ModelProperty) {
    let declared = type(of: property.keyPath).valueType
    // With a transformer, or a file of its own, the column does not hold values of the property's type.
    if property.isTransformed { return nil }
    if let kind = ModelRuntime.queryKind(of: declared) {
      if kind.columnType != property.columnType { return nil }
      self.init(
        column: property.ordinal,
        kind: kind,
        isOptional: property.isOptional,
        absent: property.isOptional ? .null : kind.neutralValue,
        enumeration: nil
      )
      return
    }
    guard let values = RawValueFacts(of: declared), values.kind.columnType == property.columnType
    else { return nil }
    self.init(
      column: property.ordinal,
      kind: values.kind,
      isOptional: property.isOptional,
      absent: property.isOptional ? .null : values.fallback(property),
      enumeration: values.values
    )
  }
}

extension ColumnReading {
  /// Whether the bytes of a column decide how its value compares with a constant.
  ///
  /// Raw values of an enumeration have no order, and one without a case reads as another.
  package func isDecidedByBytes(
    _ relation: QueryExpression.Relation,
    _ constant: QueryValue
  ) -> Bool {
    guard let enumeration else { return true }
    return (relation == .equal || relation == .notEqual) && constant != absent
      && enumeration.contains(constant)
  }

  /// Whether a null column, whose bytes are zero or none, has the bytes of the value it reads as.
  ///
  /// Then no check for null is needed.
  var isNeutralWhenZero: Bool { !isOptional && enumeration == nil && kind != .url }
}

extension QueryKind {
  /// The type of a column that holds such values.
  fileprivate var columnType: ColumnType? {
    switch self {
    case .bool: .bool
    case .integer, .unsigned: .integer
    case .double, .float: .double
    case .date: .date
    case .uuid: .uuid
    case .text, .url: .text
    case .bytes: .bytes
    case .identifier: nil
    }
  }

  /// The value of a non-optional attribute whose column is null.
  var neutralValue: QueryValue {
    switch self {
    case .bool: .bool(false)
    case .integer, .unsigned: .integer(0)
    case .double, .float, .date: .double(0)
    case .uuid: .uuid(QueryUUID(0, 0))
    case .text: .text("")
    case .url: .text("file:///")
    case .bytes: .bytes(Data())
    case .identifier: .null
    }
  }
}
