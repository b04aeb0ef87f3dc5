import Foundation

/// Writes figures for people: three digits that mean something, thousands apart.
enum Figure {
  static func format(_ value: Double) -> String {
    guard value.isFinite else { return "–" }
    if abs(value) >= 1000 { return grouped(Int(value.rounded())) }
    return String(format: abs(value) >= 100 ? "%.0f" : abs(value) >= 10 ? "%.1f" : "%.2f", value)
  }

  static func ratio(_ value: Double) -> String {
    value.isFinite ? String(format: value >= 10 ? "%.1f" : "%.2f", value) : "–"
  }

  private static func grouped(_ value: Int) -> String {
    var digits = Array(String(abs(value)))
    var position = digits.count - 3
    while position > 0 {
      digits.insert(",", at: position)
      position -= 3
    }
    return (value < 0 ? "-" : "") + String(digits)
  }
}
