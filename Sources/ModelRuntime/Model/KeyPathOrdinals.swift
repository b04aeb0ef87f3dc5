import Synchronization

/// The ordinals of a class's properties by the identity of key paths, found without a lock.
///
/// Each expression `\.name` in a program is one object, so its address identifies the property; hashing a key path costs
/// more than everything else that a small fetch does with it. Generic code makes key paths anew: once the slots for a key
/// path are taken by others, it is not remembered.
///
/// Any thread may look up and remember. Remembered key paths live as long as the table, so that no other key path
/// gets their address.
///
/// Unchecked, because the slots are atomic, and their entries never change.
@safe struct KeyPathOrdinals: ~Copyable, @unchecked Sendable {
  private final class Entry {
    let keyPath: AnyKeyPath
    let ordinal: Int

    init(_ keyPath: AnyKeyPath, _ ordinal: Int) {
      self.keyPath = keyPath
      self.ordinal = ordinal
    }
  }

  /// Maximum number of remembered key paths.
  static let capacity = 256
  /// Number of slots probed for one key path.
  private static let probeCount = 8

  /// Each an entry that the table owns, or zero.
  private let slots: UnsafeMutablePointer<Atomic<UInt>>

  init() {
    unsafe slots = .allocate(capacity: Self.capacity)
    for index in 0..<Self.capacity { unsafe (slots + index).initialize(to: Atomic(0)) }
  }

  deinit {
    for index in 0..<Self.capacity {
      unsafe Self.entry(slots[index].load(ordering: .acquiring))?.release()
    }
    unsafe slots.deinitialize(count: Self.capacity)
    unsafe slots.deallocate()
  }

  /// The remembered ordinal of a key path.
  ///
  /// - Complexity: O(1), without a lock or a change of a shared counter.
  subscript(keyPath: AnyKeyPath) -> Int? {
    let first = Self.firstSlot(of: keyPath)
    for probe in 0..<Self.probeCount {
      let word = unsafe slots[(first + probe) % Self.capacity].load(ordering: .acquiring)
      guard let entry = unsafe Self.entry(word) else { return nil }
      if let ordinal = unsafe Self.ordinal(of: keyPath, in: entry) { return ordinal }
    }
    return nil
  }

  /// Remembers a key path, if a slot is free for it.
  func remember(_ keyPath: AnyKeyPath, _ ordinal: Int) {
    let own = unsafe Unmanaged.passRetained(Entry(keyPath, ordinal))
    let word = unsafe UInt(bitPattern: own.toOpaque())
    let first = Self.firstSlot(of: keyPath)
    for probe in 0..<Self.probeCount {
      let slot = (first + probe) % Self.capacity
      let (isStored, found) = unsafe slots[slot].compareExchange(
        expected: 0,
        desired: word,
        ordering: .acquiringAndReleasing
      )
      if isStored { return }
      if let entry = unsafe Self.entry(found), unsafe Self.ordinal(of: keyPath, in: entry) != nil {
        break
      }
    }
    unsafe own.release()
  }

  /// The entry in a slot's word.
  private static func entry(_ word: UInt) -> Unmanaged<Entry>? {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: word) else { return nil }
    return unsafe Unmanaged.fromOpaque(pointer)
  }

  private static func ordinal(of keyPath: AnyKeyPath, in entry: Unmanaged<Entry>) -> Int? {
    unsafe entry._withUnsafeGuaranteedRef { $0.keyPath === keyPath ? $0.ordinal : nil }
  }

  private static func firstSlot(of keyPath: AnyKeyPath) -> Int {
    // Objects are sixteen bytes apart, and those of one module close together.
    let address = UInt(bitPattern: ObjectIdentifier(keyPath)) >> 4
    return Int((address ^ address >> 8) % UInt(capacity))
  }
}
