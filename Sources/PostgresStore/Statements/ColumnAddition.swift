#if PostgreSQL
import ModelRuntime

/// The addition of a number to a column, as the server makes it: with the result that Swift has, or an error.
struct ColumnAddition: Hashable {
  private enum Arithmetic { case integer, double, float }

  private let arithmetic: Arithmetic
  /// Whether null remains null; otherwise it counts as zero.
  private let nilStays: Bool

  /// - Returns: `nil` for numbers that the server does not have.
  init?(_ amount: NumberAddition, nilStays: Bool) {
    switch amount {
    case .integer: arithmetic = .integer
    case .double: arithmetic = .double
    case .float: arithmetic = .float
    // Columns have its bits, which are another number in SQL.
    case .unsigned: return nil
    }
    self.nilStays = nilStays
  }

  /// Number of parameters that the addition has.
  var parameterCount: Int { arithmetic == .integer ? 3 : 1 }

  /// Appends the parameters of the addition: the amount, and of an integer the values that it can be added to.
  static func append(_ amount: NumberAddition, to parameters: inout Parameters) {
    switch amount {
    case .integer(let amount, let bounds):
      parameters.append(amount)
      // A type has zero, and the amount, so none of the two overflows.
      parameters.append(amount < 0 ? bounds.lowerBound - amount : bounds.lowerBound)
      parameters.append(amount > 0 ? bounds.upperBound - amount : bounds.upperBound)
    case .double(let amount): parameters.append(amount)
    case .float(let amount): parameters.append(Double(amount))
    case .unsigned: preconditionFailure("the server adds no unsigned numbers")
    }
  }

  /// Returns the sum in SQL.
  ///
  /// - Parameters:
  ///   - column: The column.
  ///   - place: The number of the first parameter.
  /// - Returns: The sum.
  func sum(_ column: String, _ place: Int) -> String {
    let value = value(column)
    return switch arithmetic {
    case .integer, .double: "\(value) + $\(place)"
    case .float: "(\(value)::real + $\(place)::real)::double precision"
    }
  }

  /// The condition under which the property's type can hold the value and the sum; `nil` if there is none.
  func condition(_ column: String, _ place: Int) -> String? {
    guard arithmetic == .integer else { return nil }
    let fits = "\(value(column)) BETWEEN $\(place + 1) AND $\(place + 2)"
    return nilStays ? "(\(column) IS NULL OR \(fits))" : fits
  }

  private func value(_ column: String) -> String {
    nilStays ? column : "COALESCE(\(column), 0)"
  }
}
#endif
