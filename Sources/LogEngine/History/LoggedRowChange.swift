import LogFormat
public import RowFormat

/// A commit's change of one row, in the log's own form: nothing is assembled before it is needed.
///
/// ``LoggedChange`` has more information, and costs more.
public struct LoggedRowChange: Sendable {
  /// The kind of the change, which determines the meaning of the bytes that come with it.
  public let kind: Kind
  /// The row.
  public let reference: RowReference
  /// The layout of the bytes that come with it; ``/LogFormat/LayoutNumber/none`` for a deletion that preserved nothing.
  public let layout: LayoutNumber
  /// The place of the row before this change.
  let previous: RecordPlace

  /// The ways in which a commit changes a row.
  public enum Kind: Sendable, Hashable {
    /// The bytes are the new row.
    case insert
    /// The bytes are the changed columns, as ``/RowFormat/RowDelta`` writes them.
    case delta
    /// The bytes are the changed row.
    case image
    /// The bytes are a row in which all columns are null but those that were preserved, or there are none.
    case delete
  }
}

extension LoggedCommit {
  /// Visits the commit's changes of rows, in order, with their bytes in the log.
  ///
  /// Skips rows of tables that were removed before the store was opened: their layouts are no longer known.
  ///
  /// - Parameter body: Called for each change; it must not keep the bytes.
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if a record is damaged, or any error that `body` throws.
  /// - Complexity: O(bytes of the commit); nothing is allocated.
  public func forEachRowChange(_ body: (LoggedRowChange, RawSpan) throws -> Void) throws {
    try forEachRecord { header, place, bytes in
      let kind: LoggedRowChange.Kind
      switch header.kind {
      case .insert: kind = .insert
      case .delta: kind = .delta
      case .fullImage: kind = .image
      case .delete: kind = .delete
      case .catalogue: return .proceed
      }
      if state.isRemoved(table: header.table) { return .proceed }
      let change = LoggedRowChange(
        kind: kind,
        reference: header.reference,
        layout: header.layout,
        previous: header.previous
      )
      let content = bytes.extracting(header.bodyRange)
      try check(change, content, at: place)
      try body(change, content)
      return .proceed
    }
  }

  /// Validates the bytes, so that reading a column of a row never leaves them.
  private func check(_ change: LoggedRowChange, _ bytes: RawSpan, at place: RecordPlace) throws {
    if change.kind == .delta || change.layout == .none { return }
    let isValid = state.withTable(change.reference.table) { table in
      table.layouts.with(Int(change.layout.rawValue)) { $0.isValid(bytes) } ?? false
    }
    guard isValid == true else { throw state.inconsistency(at: place, change.reference) }
  }

  /// Lends a row before a change of this commit, if it is still available.
  ///
  /// - Returns: The result of `body`; `nil` for an insertion, and if compaction has taken the earlier row, or a part that it is
  ///   assembled from.
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if a record is damaged, or any error that `body` throws.
  /// - Complexity: O(bytes of the row and its deltas).
  public func withRow<R>(
    before change: LoggedRowChange,
    _ body: (RawSpan, LayoutNumber) throws -> R
  ) throws -> R? {
    if change.previous.isNone { return nil }
    return try state.files.reading {
      guard let oldest = try state.oldestFile(of: change.previous, change.reference) else {
        return nil
      }
      var scratch = FoldScratch()
      do {
        let layout = try state.fold(change.previous, change.reference, into: &scratch)
        // Files that are still there were there all the time.
        guard state.files.holds(oldest) else { return nil }
        return try body(scratch.row, layout)
      } catch let error as StorageError {
        if !state.files.holds(oldest) { return nil }
        throw error
      }
    }
  }
}

extension StoreState {
  /// Whether a table was removed before the store was opened.
  func isRemoved(table number: UInt16) -> Bool {
    withTable(number) { _ in true } == nil
      && 1..<currentCatalogue.nextTableNumber ~= number
  }

  /// Returns the oldest file that a row is assembled from; `nil` if one of the files is gone.
  ///
  /// The replacement of a missing file has a later state of the row, or none.
  fileprivate func oldestFile(
    of place: RecordPlace,
    _ reference: RowReference
  ) throws -> RecordPlace? {
    var place = place
    while true {
      guard files.holds(place) else { return nil }
      if place.isPacked { return place }
      let header = try header(at: place, of: reference)
      guard header.kind == .delta else { return place }
      guard header.leadsBack(from: place) else {
        throw inconsistency(at: place, reference)
      }
      place = header.previous
    }
  }
}
