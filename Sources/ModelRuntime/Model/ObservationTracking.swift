public import CModelRuntime
import Observation
import Synchronization

// Whether reads of properties are tracked. Observation does not report it, so this reads Observation's own
// record of it (see CModelRuntime), or, if that cannot be found, tests it by a read.

/// Whether the running code may be tracking its reads of properties: `false` is certain.
@inlinable @inline(__always)
public var _mayBeTracking: Bool { CModelRuntime_mayBeTracking() != 0 }

/// Whether the running code is tracking its reads of properties.
var isTracking: Bool {
  guard _mayBeTracking else { return false }
  if CModelRuntime_isWordKnown() != 0 { return true }
  return TrackingProbe.isWordFound ? _mayBeTracking : TrackingProbe.shared.isTracking
}

/// Detects tracking by reading a property and checking whether the read was registered.
///
/// A tracked read inserts its key path into a set, which hashes it; so the key path has an argument that
/// detects being hashed.
final class TrackingProbe: Sendable {
  static let shared = TrackingProbe()

  /// Whether the answer is available from a word of the thread's own; the word is searched for once.
  static let isWordFound: Bool = {
    let address = unsafe unsafeBitCast(
      ObservationRegistrar.self as Any.Type,
      to: UnsafeRawPointer.self
    )
    return unsafe CModelRuntime_findTracking(address) { context, body in
      withObservationTracking {
        unsafe body(context)
      } onChange: {
      }
    } != 0
  }()

  private let registrar = Mutex(Registrar())

  var isTracking: Bool {
    registrar.withLock { registrar in
      let before = CModelRuntime_probes()
      registrar.access()
      return CModelRuntime_probes() != before
    }
  }
}

extension TrackingProbe {
  /// A registrar that is replaced now and then, because it keeps tracked reads and never fires.
  private struct Registrar {
    private static let lifetime = 4096
    private var registrar = ObservationRegistrar()
    private var uses = 0
    private let subject = Subject()
    private let keyPath: KeyPath<Subject, Int> = \.[Argument()]

    mutating func access() {
      uses += 1
      if uses > Self.lifetime {
        registrar = ObservationRegistrar()
        uses = 0
      }
      registrar.access(subject, keyPath: keyPath)
    }
  }

  private final class Subject: Observable, Sendable {
    subscript(argument: Argument) -> Int { 0 }
  }

  private struct Argument: Hashable {
    func hash(into hasher: inout Hasher) { CModelRuntime_countProbe() }
  }
}
