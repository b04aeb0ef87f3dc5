import Foundation

/// The type, if its values have a column of their own, or it is an optional of one that has; `nil` for other types.
///
/// Found without a cast; see ``TypeMetadata``.
func columnType(_ type: any Any.Type) -> (any _ColumnValue.Type)? {
  func optional<Wrapped: _ColumnValue>(_: Wrapped.Type) -> any _ColumnValue.Type { Wrapped?.self }
  if let plain = plainColumnType(type) { return plain }
  guard let wrapped = TypeMetadata.wrappedType(of: type).flatMap(columnType) else { return nil }
  return optional(wrapped)
}

/// The type, if its values have a column of their own; `nil` for optionals and all other types.
func plainColumnType(_ type: any Any.Type) -> (any _ColumnValue.Type)? {
  plainColumnTypes.first { $0 == type }
}

private let plainColumnTypes: [any _ColumnValue.Type] = [
  String.self, Int.self, Double.self, Bool.self, Date.self, UUID.self, Data.self, URL.self,
  Float.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self,
  UInt32.self, UInt64.self,
]
