#if !canImport(Darwin)
import Foundation

/// The name under which a ``ValueTransformer`` is registered: Foundation's type, which Linux lacks.
public struct NSValueTransformerName: Hashable, RawRepresentable, Sendable {
  public let rawValue: String

  /// Creates a name.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Creates a name.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// Negates a Boolean.
  public static let negateBooleanTransformerName = Self("NSNegateBoolean")
  /// Tests whether a value is `nil`.
  public static let isNilTransformerName = Self("NSIsNil")
  /// Tests whether a value is not `nil`.
  public static let isNotNilTransformerName = Self("NSIsNotNil")
  /// Reads an object from a keyed archive.
  public static let secureUnarchiveFromDataTransformerName = Self("NSSecureUnarchiveFromData")
}

/// Lets an initializer return an existing object, which a class's own cannot.
public protocol _NamedTransformer {}

extension _NamedTransformer {
  /// Returns the transformer registered under a name, or `nil` if there is none of this class.
  ///
  /// - Parameter name: The name.
  public init?(forName name: NSValueTransformerName) {
    // In two steps: optimized, the cast of a nil optional accesses the object.
    guard let registered = ValueTransformer.registered(name) else { return nil }
    guard let own = registered as? Self else { return nil }
    self = own
  }
}

extension ValueTransformer: _NamedTransformer {}

final class NegateBooleanTransformer: ValueTransformer {
  override class func transformedValueClass() -> AnyClass { NSNumber.self }
  override func transformedValue(_ value: Any?) -> Any? { (value as? Bool).map { !$0 } }
}

final class IsNilTransformer: ValueTransformer {
  override class func transformedValueClass() -> AnyClass { NSNumber.self }
  override class func allowsReverseTransformation() -> Bool { false }
  override func transformedValue(_ value: Any?) -> Any? { value == nil }
}

final class IsNotNilTransformer: ValueTransformer {
  override class func transformedValueClass() -> AnyClass { NSNumber.self }
  override class func allowsReverseTransformation() -> Bool { false }
  override func transformedValue(_ value: Any?) -> Any? { value != nil }
}
#endif
