import RowFormat

/// A cache of the values read at the ends of recently followed references.
///
/// A scan meets the same few targets again and again: sixteen airlines for a year of flights. The cache saves reading
/// them again, which may include putting one together from its changes. It holds a few hundred, each in
/// the one slot its name hashes to, so that a look-up costs no more than a comparison.
///
/// Sound because a filter and its reads belong to one state of the store.
final class TargetCache<Value> {
  private static var bits: UInt64 { 8 }
  private var entries: [(target: RowReference, value: Value)?] = []

  subscript(target: RowReference) -> Value? {
    get {
      guard !entries.isEmpty, let entry = entries[place(of: target)], entry.target == target else {
        return nil
      }
      return entry.value
    }
    set {
      guard let newValue else { return }
      if entries.isEmpty { entries = Array(repeating: nil, count: 1 << Int(Self.bits)) }
      entries[place(of: target)] = (target, newValue)
    }
  }

  /// Fibonacci hashing: neighbouring keys, the usual ones, get slots far apart.
  private func place(of target: RowReference) -> Int {
    Int(truncatingIfNeeded: (target.rawValue &* 0x9E37_79B9_7F4A_7C15) >> (64 - Self.bits))
  }
}
