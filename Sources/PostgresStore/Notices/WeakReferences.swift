#if PostgreSQL
import Synchronization

/// Objects that live for as long as other objects keep them: the feeds of a store, and its watches.
final class WeakReferences<Object: AnyObject & Sendable>: Sendable {
  private struct Reference { weak var object: Object? }

  private let references = Mutex<[Reference]>([])

  func add(_ object: Object) {
    references.withLock { references in
      references.removeAll { $0.object == nil }
      references.append(Reference(object: object))
    }
  }

  var all: [Object] { references.withLock { $0.compactMap(\.object) } }
}
#endif
