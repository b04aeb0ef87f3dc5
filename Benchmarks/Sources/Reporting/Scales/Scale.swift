import Foundation

/// Turns values into places on the page.
struct Scale {
  /// The spread of values over the page.
  enum Kind {
    /// In proportion, from zero.
    case linear
    /// A doubling is as long anywhere.
    case logarithmic
    /// Shares of all: each further nine (0.9, 0.99, 0.999) is as long as the one before.
    case nines
  }

  let kind: Kind
  let domain: ClosedRange<Double>
  /// The places of the domain's ends; the first may be after the second, as it is upwards.
  let start: Double
  let end: Double

  init(_ kind: Kind, _ domain: ClosedRange<Double>, from start: Double, to end: Double) {
    self.kind = kind
    self.domain = domain
    self.start = start
    self.end = end
  }

  /// The place of a value; one outside of the domain is shown at its edge.
  func place(_ value: Double) -> Double {
    let low = transform(domain.lowerBound)
    let span = transform(domain.upperBound) - low
    guard span > 0 else { return start }
    let share = (transform(min(max(value, domain.lowerBound), domain.upperBound)) - low) / span
    return start + share * (end - start)
  }

  private func transform(_ value: Double) -> Double {
    switch kind {
    case .linear: value
    case .logarithmic: log10(value)
    case .nines: -log10(1 - value)
    }
  }
}
