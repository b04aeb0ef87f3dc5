import RowFormat

/// What was read at the end of references that were followed lately.
///
/// A scan meets the same few targets again and again: sixteen airlines for a year of flights. Reading one
/// again, which may mean putting it together from its changes, is what this saves. It holds a few hundred, each in
/// the one place its name falls on, so that looking costs no more than a comparison.
///
/// Sound because a filter and what it reads belong to one state of the store.
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

  /// Fibonacci hashing: neighbouring keys, which is what keys are, fall on places far apart.
  private func place(of target: RowReference) -> Int {
    Int(truncatingIfNeeded: (target.rawValue &* 0x9E37_79B9_7F4A_7C15) >> (64 - Self.bits))
  }
}
