import Synchronization

/// Which commits are being read, and since when.
final class PinBoard: Sendable {
  private let pins = Mutex<Pins>(Pins())

  private struct Pins {
    var nextNumber: UInt64 = 0
    var bySince: [UInt64: (sequence: UInt64, since: Int64)] = [:]
  }

  /// A commit that is being read.
  struct Pin: Sendable { fileprivate let number: UInt64 }

  func pin(_ sequence: UInt64, at microseconds: Int64) -> Pin {
    pins.withLock { pins in
      pins.nextNumber += 1
      pins.bySince[pins.nextNumber] = (sequence, microseconds)
      return Pin(number: pins.nextNumber)
    }
  }

  func unpin(_ pin: Pin) {
    _ = pins.withLock { $0.bySince.removeValue(forKey: pin.number) }
  }

  /// How many pins there are, the oldest commit among them, and when its pin was made.
  var summary: (count: Int, oldest: UInt64?, since: Int64?) {
    pins.withLock { pins in
      let oldest = pins.bySince.values.min { $0.sequence < $1.sequence }
      return (pins.bySince.count, oldest?.sequence, oldest?.since)
    }
  }
}
