import Locking
import Synchronization

/// The commits being read, each with the time since which it is pinned.
final class PinBoard: Sendable {
  private let pins = Lock<Pins>(Pins(), .pins)

  private struct Pins {
    var nextNumber: UInt64 = 0
    var bySince: [UInt64: (sequence: UInt64, since: Int64)] = [:]

    mutating func add(_ sequence: UInt64, _ since: Int64) -> Pin {
      nextNumber += 1
      bySince[nextNumber] = (sequence, since)
      return Pin(number: nextNumber)
    }
  }

  /// A commit that is being read.
  struct Pin: Sendable { fileprivate let number: UInt64 }

  func pin(_ sequence: UInt64, at microseconds: Int64) -> Pin {
    pins.withLock { $0.add(sequence, microseconds) }
  }

  /// Pins the newest commit.
  ///
  /// The newest commit is determined under the lock: a thread that asks for the oldest pin sees this one, or asked first, and
  /// then the commit pinned is no older than any that was visible at that moment.
  func pin(_ visible: borrowing Atomic<UInt64>, at microseconds: Int64) -> (Pin, UInt64) {
    pins.withLock { pins in
      let sequence = visible.load(ordering: .acquiring)
      return (pins.add(sequence, microseconds), sequence)
    }
  }

  /// The oldest pinned commit.
  var oldest: UInt64? { pins.withLock { $0.bySince.values.lazy.map(\.sequence).min() } }

  /// Returns the oldest commit that a view may be reading; `newest` without views.
  ///
  /// - Parameter newest: A commit that was visible before the call: a view that pins itself later sees at least that commit.
  /// - Returns: Its number.
  func oldest(upTo newest: UInt64) -> UInt64 {
    pins.withLock { pins in min(newest, pins.bySince.values.map(\.sequence).min() ?? newest) }
  }

  func unpin(_ pin: Pin) {
    _ = pins.withLock { $0.bySince.removeValue(forKey: pin.number) }
  }

  /// The number of pins, the oldest commit among them, and the time at which it was pinned.
  var summary: (count: Int, oldest: UInt64?, since: Int64?) {
    pins.withLock { pins in
      let oldest = pins.bySince.values.min { $0.sequence < $1.sequence }
      return (pins.bySince.count, oldest?.sequence, oldest?.since)
    }
  }
}
