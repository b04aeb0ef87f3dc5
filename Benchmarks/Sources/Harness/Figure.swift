import Foundation

/// Writes figures for people: three digits that mean something, thousands apart.
public enum Figure {
  public static func format(_ value: Double) -> String {
    guard value.isFinite else { return "–" }
    if abs(value) >= 1000 { return grouped(Int(value.rounded())) }
    return String(format: abs(value) >= 100 ? "%.0f" : abs(value) >= 10 ? "%.1f" : "%.2f", value)
  }

  public static func ratio(_ value: Double) -> String {
    value.isFinite ? String(format: value >= 10 ? "%.1f" : "%.2f", value) : "–"
  }

  /// A round number beside an axis: 500, 20k, 1.5M.
  public static func axis(_ value: Double) -> String {
    let units = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1, "")]
    let (unit, name) = units.first { abs(value) >= $0.0 * (1 - 1e-9) } ?? (1, "")
    return String(format: "%.4g", value / unit) + name
  }

  /// A round duration beside an axis: 200 ns, 5 µs, 1 ms, 2 s.
  public static func duration(microseconds: Double) -> String {
    let units = [(1e6, "s"), (1e3, "ms"), (1, "µs"), (1e-3, "ns")]
    let (unit, name) = units.first { microseconds >= $0.0 * (1 - 1e-9) } ?? (1e-3, "ns")
    return String(format: "%.4g ", microseconds / unit) + name
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
