/// The kind of a record; raw values are on disk, so add, never renumber.
public enum RecordKind: UInt8, Sendable, Hashable, CaseIterable {
  /// A new row, whole.
  case insert = 1
  /// The changed columns of a row.
  case delta = 2
  /// The end of a row; the body may preserve some of its columns.
  case delete = 3
  /// A changed row, whole.
  case fullImage = 4
  /// A list of catalogue changes; not related to a row.
  case catalogue = 5

  /// Whether the record continues from an earlier one of the same row.
  @inlinable package var hasPrevious: Bool {
    self == .delta || self == .delete || self == .fullImage
  }
}
