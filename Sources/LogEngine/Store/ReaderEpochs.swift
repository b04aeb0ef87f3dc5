import Locking
import Synchronization

/// Determines when no reader can still use files that were removed from the readers' tables.
///
/// A reader counts itself in and out, in the counter of the current epoch's parity. A thread that removes an object from the
/// tables moves to the next epoch: later readers do not find the object, and once the old parity's counters are zero, the
/// earlier readers are gone. The counters are spread over several cache lines, so that readers on different threads do not slow
/// each other down.
@safe final class ReaderEpochs: Sendable {
  private let epoch = Atomic<UInt>(0)
  private nonisolated(unsafe) let counters: UnsafeMutableRawPointer
  /// The objects to be released, and the epoch whose readers may still use them.
  private let pending = Lock<Pending>(Pending(), .retiredObjects)

  private struct Pending {
    var current: [any AnyObject & Sendable] = []
    var next: [any AnyObject & Sendable] = []
    var parity: UInt?
  }

  private static let stripeBits = 4
  private static let stripeCount = 1 << stripeBits
  /// Two lines, since processors fetch lines in pairs.
  private static let lineByteCount = 128

  init() {
    let byteCount = 2 * Self.stripeCount * Self.lineByteCount
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: byteCount,
      alignment: Self.lineByteCount
    )
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    unsafe counters = unsafe memory
  }

  deinit { unsafe counters.deallocate() }

  /// A reader's place among the counters.
  struct Ticket { fileprivate let index: Int }

  /// Counts a reader in.
  @inline(__always)
  func enter() -> Ticket {
    let stripe = Self.stripe()
    while true {
      let epoch = epoch.load(ordering: .relaxed)
      let index = Int(epoch & 1) * Self.stripeCount + stripe
      // Wrapping: an addition that checks for overflow is a loop of compare and exchange.
      unsafe counter(index).pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
      // Without this check the count may come too late for a thread that has just checked the counters.
      if self.epoch.load(ordering: .sequentiallyConsistent) == epoch { return Ticket(index: index) }
      countOut(at: index)
    }
  }

  /// Counts a reader out.
  @inline(__always)
  func leave(_ ticket: Ticket) {
    countOut(at: ticket.index)
  }

  @inline(__always)
  private func countOut(at index: Int) {
    let count = unsafe counter(index).pointee.wrappingSubtract(1, ordering: .releasing)
    assert(count.newValue >= 0, "a reader was counted out that had not been counted in")
  }

  /// Releases objects that no table refers to any more, as soon as no reader can be using them.
  func retire(_ objects: [any AnyObject & Sendable]) {
    pending.withLock { $0.next += objects }
    collect()
  }

  /// Releases the objects that have no readers left.
  func collect() {
    let freed = pending.withLock { pending -> [any AnyObject & Sendable] in
      var freed: [any AnyObject & Sendable] = []
      while true {
        if let parity = pending.parity {
          guard isIdle(parity) else { return freed }
          freed += pending.current
          pending.current = []
          pending.parity = nil
        }
        guard !pending.next.isEmpty else { return freed }
        swap(&pending.current, &pending.next)
        pending.parity = epoch.add(1, ordering: .sequentiallyConsistent).oldValue & 1
      }
    }
    // Released only now: closing files takes time, and needs no lock.
    _ = freed
  }

  /// Waits until all reads that began before this call have ended.
  ///
  /// - Returns: `false` if that takes longer than a read should.
  func drain() -> Bool {
    collect()
    return pending.withLock { pending in
      guard pending.parity == nil else { return false }
      let parity = epoch.add(1, ordering: .sequentiallyConsistent).oldValue & 1
      for _ in 0..<ReaderEpochs.patience {
        if isIdle(parity) { return true }
        _ = epoch.load(ordering: .sequentiallyConsistent)
      }
      pending.parity = parity
      return false
    }
  }

  private static let patience = 1 << 20

  private func isIdle(_ parity: UInt) -> Bool {
    (0..<Self.stripeCount).allSatisfy { stripe in
      unsafe counter(Int(parity) * Self.stripeCount + stripe).pointee
        .load(ordering: .sequentiallyConsistent) == 0
    }
  }

  @inline(__always)
  private func counter(_ index: Int) -> UnsafeMutablePointer<Atomic<Int>> {
    unsafe (counters + index &* Self.lineByteCount).assumingMemoryBound(to: Atomic<Int>.self)
  }

  @inline(__always)
  private static func stripe() -> Int {
    var here: UInt8 = 0
    let address = unsafe withUnsafePointer(to: &here) { UInt(bitPattern: $0) }
    return stripe(ofStackAt: address)
  }

  /// Returns the stripe of the thread with an address on its stack: different for most threads that run at once.
  ///
  /// Stacks are a fixed distance apart, mostly a power of two plus perhaps a page. So the low bits of their addresses do not
  /// distinguish them; multiplied by the golden ratio, the high bits spread evenly, whatever the distance.
  @inline(__always)
  static func stripe(ofStackAt address: UInt) -> Int {
    let spread = UInt64(address >> 16) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: spread >> UInt64(UInt64.bitWidth - stripeBits))
  }
}
