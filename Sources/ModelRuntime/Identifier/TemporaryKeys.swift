import Synchronization

/// Numbers for identifiers of models that were never saved; unique in the process.
enum TemporaryKeys {
  private static let last = Atomic<UInt64>(0)

  static func next() -> UInt64 {
    last.wrappingAdd(1, ordering: .relaxed).newValue
  }
}
