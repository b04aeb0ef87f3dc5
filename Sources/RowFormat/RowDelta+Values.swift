extension RowDelta {
  /// Finds the new reference of a reference column in a delta.
  ///
  /// - Returns: `nil` if the delta does not change the column, sets it to null, or is malformed.
  /// - Complexity: O(changed columns up to `column`).
  public static func reference(
    _ column: Int,
    in delta: RawSpan,
    layout: RowLayout
  ) -> RowReference? {
    let bitmap = (layout.count + 7) / 8
    guard delta.byteCount >= bitmap, layout.types[column] == .reference,
      isChanged(column, in: delta)
    else { return nil }
    var cursor = ByteCursor(bitmap..<delta.byteCount)
    for other in 0...column where isChanged(other, in: delta) {
      guard let byte = cursor.integer(UInt8.self, in: delta),
        let operation = Operation(rawValue: byte),
        let range = skip(operation, layout.types[other], in: delta, &cursor)
      else { return nil }
      guard other == column else { continue }
      guard operation == .value else { return nil }
      return RowReference(rawValue: delta.load(UInt64.self, at: range.lowerBound))
    }
    return nil
  }
}
