extension Duration {
  /// The whole microseconds; the greatest or least number if there are more.
  package var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    if overflow { return seconds < 0 ? .min : .max }
    return product + attoseconds / 1_000_000_000_000
  }

  /// The whole microseconds; a century if there are more, so that they can be added to the time of a clock.
  package var waitMicroseconds: Int {
    let century: Int64 = 3_155_760_000_000_000
    return Int(max(-century, min(microseconds, century)))
  }
}
