import Foundation
import Testing

@testable import ModelRuntime

/// What metadata says of a type is what a cast finds.
@Suite struct `The metadata of a type` {
  private struct Place: Codable {}
  private enum Colour: String, Codable { case red }
  private enum Nested<Value> { case value(Value) }
  private class Plain {}
  private final class Generic<Value> {}

  static let types: [any Any.Type] = [
    Int.self, String.self, Date.self, URL.self, Data.self, UUID.self, Decimal.self, Place.self,
    Colour.self, Nested<Int>.self, Plain.self, Generic<String>.self, (Int, String).self,
    (() -> Void).self, (any Error).self, Any.self, Int.Type.self, [Int].self, [[Place]].self,
    [Plain].self, ArraySlice<Int>.self, Set<String>.self, [String: Date].self, [Int: Plain].self,
    ContiguousArray<Int>.self, Range<Int>.self, AnyHashable.self, UnknownValue.self,
  ]

  /// Every one of the types, optional or not.
  private static let all: [any Any.Type] = types.flatMap { type in
    func optionals<T>(_: T.Type) -> [any Any.Type] { [T.self, T?.self, T??.self, [T?].self] }
    return _openExistential(type, do: optionals)
  }

  /// Types are compared as these, since `#expect` cannot compare types.
  private func id(_ type: (any Any.Type)?) -> ObjectIdentifier? { type.map(ObjectIdentifier.init) }

  @Test func `tells an optional from all else, and what it wraps`() {
    for type in Self.all {
      let found = (type as? any Wrapping.Type)?.content
      #expect(TypeMetadata.isOptional(type) == (found != nil), "\(type)")
      #expect(id(TypeMetadata.wrappedType(of: type)) == id(found), "\(type)")
      #expect(id(TypeMetadata.unwrapped(type)) == id(found ?? type), "\(type)")
    }
  }

  @Test func `tells an array from all else, and what is in it`() {
    for type in Self.all {
      let found = (type as? any Listing.Type)?.element
      #expect(id(TypeMetadata.elementType(of: type)) == id(found), "\(type)")
    }
  }

  @Test func `tells what is in a set and in a dictionary`() {
    for type in Self.all {
      let found = (type as? any Holding.Type)?.members ?? []
      #expect(TypeMetadata.memberTypes(of: type).map(id) == found.map(id), "\(type)")
    }
  }

  @Test func `tells classes, structures and enumerations`() {
    for type in Self.all {
      #expect(TypeMetadata.isClass(type) == (type is AnyClass), "\(type)")
    }
    #expect(TypeMetadata.isStruct(Place.self) && TypeMetadata.isStruct([Int].self))
    #expect(!TypeMetadata.isStruct(Colour.self) && !TypeMetadata.isStruct(Int?.self))
    #expect(TypeMetadata.isEnumeration(Colour.self) && TypeMetadata.isEnumeration(Nested<Int>.self))
    #expect(!TypeMetadata.isEnumeration(Int?.self) && !TypeMetadata.isEnumeration(Place.self))
  }

  /// The list is complete: a cast finds no other.
  @Test func `goes with the list of the types that have columns`() {
    for type in Self.all + [Bool.self, Float.self, Int8.self, UInt64.self, UInt64?.self] {
      #expect(id(columnType(type)) == id(type as? any _ColumnValue.Type), "\(type)")
      #expect(id(queryScalar(type)) == id(type as? any QueryScalar.Type), "\(type)")
    }
    #expect(queryScalar(PersistentIdentifier.self)?.queryKind == .identifier)
  }
}

private protocol Wrapping { static var content: any Any.Type { get } }
extension Optional: Wrapping { fileprivate static var content: any Any.Type { Wrapped.self } }

private protocol Listing { static var element: any Any.Type { get } }
extension Array: Listing { fileprivate static var element: any Any.Type { Element.self } }

private protocol Holding { static var members: [any Any.Type] { get } }
extension Set: Holding { fileprivate static var members: [any Any.Type] { [Element.self] } }
extension Dictionary: Holding {
  fileprivate static var members: [any Any.Type] { [Key.self, Value.self] }
}
