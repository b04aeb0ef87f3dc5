import Foundation

/// The types that have columns of their own, found without a cast; see ``TypeMetadata``.
enum ColumnTypes {
  private static let all: [any _ColumnValue.Type] = [
    String.self, Int.self, Double.self, Bool.self, Date.self, UUID.self, Data.self, URL.self,
    Float.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self,
    UInt32.self, UInt64.self,
  ]

  /// The type, if it is one of them; `nil` for optionals and all other types.
  static func plain(_ type: any Any.Type) -> (any _ColumnValue.Type)? { all.first { $0 == type } }

  /// The type, if it is one of them or an optional of one; `nil` for other types.
  static func type(_ type: any Any.Type) -> (any _ColumnValue.Type)? {
    func optional<Wrapped: _ColumnValue>(_: Wrapped.Type) -> any _ColumnValue.Type {
      Wrapped?.self
    }
    if let known = plain(type) { return known }
    guard let wrapped = TypeMetadata.wrappedType(of: type).flatMap(self.type) else { return nil }
    return optional(wrapped)
  }
}
