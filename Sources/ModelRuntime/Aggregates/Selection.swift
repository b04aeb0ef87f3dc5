extension [Double] {
  /// Moves the value to a place that would be there if all values were in order.
  ///
  /// No value before it is greater then, and no value after it less. No value may be NaN.
  ///
  /// - Complexity: O(*n*) on average. After repeatedly bad pivots, the rest is sorted, which bounds the cost by
  ///   O(*n* log *n*).
  mutating func select(_ place: Int) {
    var (low, high) = (startIndex, endIndex - 1)
    var roundsLeft = 2 * (Int.bitWidth - count.leadingZeroBitCount)
    while low < high {
      if roundsLeft == 0 { return self[low...high].sort() }
      roundsLeft -= 1
      let (left, right) = partition(low, high)
      if place <= right {
        high = right
      } else if place >= left {
        low = left
      } else {
        return
      }
    }
  }

  /// Partitions some values by one of them.
  ///
  /// - Returns: The start of the part with the values that are not less, and the end of the part with the values that are not
  ///   greater, which is before it. The values in between equal the pivot.
  private mutating func partition(_ low: Int, _ high: Int) -> (left: Int, right: Int) {
    let pivot = median(self[low], self[low + (high - low) / 2], self[high])
    var (left, right) = (low, high)
    while left <= right {
      while self[left] < pivot { left += 1 }
      while pivot < self[right] { right -= 1 }
      if left <= right {
        swapAt(left, right)
        left += 1
        right -= 1
      }
    }
    return (left, right)
  }

  private func median(_ first: Double, _ second: Double, _ third: Double) -> Double {
    Swift.max(Swift.min(first, second), Swift.min(Swift.max(first, second), third))
  }
}
