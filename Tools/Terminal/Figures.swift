import Foundation

/// Figures as people read them, the same wherever they are printed and whatever the locale.
extension BinaryInteger {
  /// The number with a comma between its thousands: 27,004.
  public var grouped: String {
    let digits = String(magnitude)
    var result = self < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0 && (digits.count - index) % 3 == 0 { result.append(",") }
      result.append(digit)
    }
    return result
  }

  /// The number with what it counts: 1 file, 27,004 files.
  public func counted(_ noun: String) -> String { grouped + " " + noun + (self == 1 ? "" : "s") }

  /// The number as an amount of bytes: 412 B, 38.1 KiB, 64.0 MiB.
  public var byteCount: String {
    let amount = Double(self)
    for (unit, size) in [("GiB", 0x1p30), ("MiB", 0x1p20), ("KiB", 0x1p10)] where amount >= size {
      return (amount / size).fixed(1) + " " + unit
    }
    return "\(self) B"
  }
}

extension Double {
  /// The number with this many digits after the point.
  public func fixed(_ digits: Int) -> String {
    String(format: "%.\(digits)f", locale: Locale(identifier: "en_US_POSIX"), self)
  }

  /// The number of seconds as a time that is quick to read: 840 µs, 12.3 ms, 4.56 s.
  public var duration: String {
    switch self {
    case ..<0.001: (self * 1e6).fixed(0) + " µs"
    case ..<1: (self * 1e3).fixed(1) + " ms"
    default: fixed(2) + " s"
    }
  }
}

extension Duration {
  /// The duration in seconds.
  public var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
