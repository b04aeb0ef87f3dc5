extension Duration {
  /// The whole microseconds, clamped to the range of `Int64`.
  package var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    if overflow { return seconds < 0 ? .min : .max }
    return product + attoseconds / 1_000_000_000_000
  }

  /// The whole microseconds, at most a century, so that they can be added to the time of a clock.
  package var waitMicroseconds: Int {
    let century: Int64 = 3_155_760_000_000_000
    return Int(max(-century, min(microseconds, century)))
  }
}
