import ArgumentParser

/// A range of numbers as people write it: `17`, `10-20` (both included), `10-` (no end).
struct NumberRange: ExpressibleByArgument, Equatable {
  let bounds: ClosedRange<UInt64>

  init(_ bounds: ClosedRange<UInt64>) { self.bounds = bounds }

  init?(argument: String) {
    let parts = argument.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count <= 2, let lower = UInt64(parts[0]) else { return nil }
    switch parts.count {
    case 1: bounds = lower...lower
    case _ where parts[1].isEmpty: bounds = lower ... .max
    default:
      guard let upper = UInt64(parts[1]), upper >= lower else { return nil }
      bounds = lower...upper
    }
  }

  func contains(_ number: UInt64) -> Bool { bounds.contains(number) }
}
