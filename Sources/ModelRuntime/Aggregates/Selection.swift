extension [Double] {
  /// Puts the value at a place that would be there if all were in order.
  ///
  /// None before it is greater then, and none behind it less. No value may be NaN.
  ///
  /// - Complexity: O(*n*) on average. Where pivots are bad again and again, what is left is sorted, so that it is never more
  ///   than O(*n* log *n*).
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

  /// Parts some values by one of them.
  ///
  /// - Returns: Where the part begins with the values that are not less, and where that ends with the values that are not
  ///   greater: before the other's beginning. What is between them is equal to the pivot.
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
