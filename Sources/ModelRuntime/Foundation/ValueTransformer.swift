#if !canImport(Darwin)
public import Foundation
import Synchronization

/// Transforms a value into another and, if possible, back: Foundation's class, which Linux lacks.
open class ValueTransformer: NSObject {
  /// The registered transformers by name.
  ///
  /// Transformers are shared by design: Foundation, too, passes one instance to every thread.
  private struct Registry: @unchecked Sendable {
    var transformers: [NSValueTransformerName: ValueTransformer] = [:]
  }
  private static let registry = Mutex(Registry())

  /// Creates a transformer; a schema that names a class makes its transformer this way.
  public required override init() {}

  /// Registers a transformer under a name, or with `nil` removes the registered one.
  ///
  /// - Parameters:
  ///   - transformer: The transformer.
  ///   - name: The name.
  open class func setValueTransformer(
    _ transformer: ValueTransformer?,
    forName name: NSValueTransformerName
  ) {
    // Shared by design, as the registry is.
    nonisolated(unsafe) let transformer = transformer
    registry.withLock { $0.transformers[name] = unsafe transformer }
  }

  /// The names under which transformers are registered.
  open class func valueTransformerNames() -> [NSValueTransformerName] {
    registry.withLock { Array($0.transformers.keys) }
  }

  /// Returns the transformer registered under a name: also spelled `ValueTransformer(forName:)`.
  ///
  /// If there is none, one of the class of that name is made and registered, as Foundation does on a Mac.
  static func registered(_ name: NSValueTransformerName) -> ValueTransformer? {
    if let found = registry.withLock({ $0 }).transformers[name] { return found }
    guard let found = builtIn(name) else { return nil }
    setValueTransformer(found, forName: name)
    return found
  }

  private static func builtIn(_ name: NSValueTransformerName) -> ValueTransformer? {
    switch name {
    case .negateBooleanTransformerName: NegateBooleanTransformer()
    case .isNilTransformerName: IsNilTransformer()
    case .isNotNilTransformerName: IsNotNilTransformer()
    case .secureUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer()
    default: type(named: name.rawValue)?.init()
    }
  }

  private static func type(named name: String) -> ValueTransformer.Type? {
    if name == "\(NSSecureUnarchiveFromDataTransformer.self)" {
      return NSSecureUnarchiveFromDataTransformer.self
    }
    return NSClassFromString(name) as? ValueTransformer.Type
  }

  /// The class of the transformed values.
  open class func transformedValueClass() -> AnyClass { NSObject.self }

  /// Whether values can be transformed back.
  open class func allowsReverseTransformation() -> Bool { true }

  /// Returns the transformed value.
  open func transformedValue(_ value: Any?) -> Any? { value }

  /// Returns the original of a transformed value.
  open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }
}
#endif
