extension RandomAccessCollection where Index == Int {
  /// Returns the position of the first element that fails a test, in a collection where all elements that pass it come first;
  /// the end if there is none.
  ///
  /// - Complexity: O(log *n*) calls of the test.
  @inlinable @inline(__always)
  package func partitionPoint<E>(
    _ comesFirst: (Element) throws(E) -> Bool
  ) throws(E) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = low + (high - low) / 2
      if try comesFirst(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
