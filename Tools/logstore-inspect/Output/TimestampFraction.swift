/// The part of a second that a date has, without a loss between its digits and the double that dates are.
enum TimestampFraction {
  /// The double that seconds and microseconds are read as; `nil` where that takes a longer way to tell.
  static func seconds(_ second: Int, microseconds: Int) -> Double? {
    if microseconds == 0 { return Double(second) }
    let total = second * 1_000_000 + microseconds
    // Then both are exact, and their quotient is the double that is nearest to the decimal number.
    return total.magnitude < 1 << 53 ? Double(total) / 1e6 : nil
  }

  /// The double that is nearest to a whole number of seconds and the digits behind a point, which are added to it.
  static func seconds(_ second: Int, digits: [UInt8]) -> Double {
    guard digits.contains(where: { $0 != UInt8(ascii: "0") }) else { return Double(second) }
    let (whole, digits) = second < 0 ? (-second - 1, complement(digits)) : (second, digits)
    let magnitude = Double("\(whole).\(String(decoding: digits, as: UTF8.self))") ?? .nan
    return second < 0 ? -magnitude : magnitude
  }

  /// The whole number of seconds at or before an instant, and the fewest digits behind it that tell the instant.
  static func split(_ seconds: Double) -> (second: Int, digits: [UInt8]) {
    // As many digits as the number needs: a small one has zeros in front, and an exponent that says how many.
    let parts = seconds.magnitude.description.split(separator: "e")
    let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    var whole = Array(mantissa[0].utf8)
    var digits = mantissa.count > 1 && mantissa[1] != "0" ? Array(mantissa[1].utf8) : []
    if exponent < 0 {
      let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: -exponent - whole.count)
      digits = zeros + whole + digits
      whole = []
    }
    let second = Int(String(decoding: whole, as: UTF8.self)) ?? 0
    if seconds >= 0 { return (second, digits) }
    return digits.isEmpty ? (-second, digits) : (-second - 1, complement(digits))
  }

  /// The digits of one less a number that is not zero, of that many digits behind the point.
  private static func complement(_ digits: [UInt8]) -> [UInt8] {
    let end = (digits.lastIndex { $0 != UInt8(ascii: "0") } ?? 0) + 1
    let base = 2 * UInt8(ascii: "0") + 9
    var result = digits[..<end].map { base - $0 }
    result[end - 1] += 1
    return result
  }
}
