#if canImport(Darwin)
package import Foundation
#endif
import Synchronization

/// The transformers that schemas refer to by class rather than by a registered name.
package enum TransformerNames {
  private static let known = Mutex<[String: ValueTransformer.Type]>([:])

  /// Returns the name of a class in a schema, and records the class under it.
  static func name(of type: ValueTransformer.Type) -> String {
    let name = _typeName(type, qualified: true)
    known.withLock { $0[name] = type }
    return name
  }

  /// Returns the transformer with a name: a registered one, or a new one of the class with that name.
  package static func transformer(named name: String) -> ValueTransformer? {
    if let registered = ValueTransformer(forName: NSValueTransformerName(name)) {
      return registered
    }
    return known.withLock { $0[name] }?.init()
  }
}
