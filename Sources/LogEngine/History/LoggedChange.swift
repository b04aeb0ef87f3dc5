import LogFormat
public import RowFormat

/// A change of one row, or of the catalogue, as the log has it.
public struct LoggedChange: Sendable {
  /// The kind of the change.
  public let kind: Kind
  /// The record of the change.
  public let record: RecordDescription
  /// The commit it belongs to.
  public let sequence: CommitSequence
  /// The time of the commit, in microseconds since 1970-01-01T00:00:00Z.
  public let microseconds: Int64
  /// The author, if the commit names one.
  public let author: String?
  private let state: StoreState
  /// The place of the row before this change.
  private let previous: RecordPlace

  /// The ways in which a record changes a store.
  public enum Kind: Hashable, Sendable {
    /// The row was added.
    case insert
    /// The changed columns, by position in the layout; `nil` if the row was written whole, or belongs to a table that was
    /// removed before the store was opened.
    case update(changed: ColumnSet?)
    /// The row was deleted.
    case delete
    /// Tables, columns or metadata were changed, in this order.
    case catalogue([CatalogueChange])
  }

  /// The row; none for a change of the catalogue.
  public var reference: RowReference { record.reference }

  init(
    _ header: RecordHeader,
    at place: RecordPlace,
    _ bytes: RawSpan,
    _ origin: (sequence: CommitSequence, microseconds: Int64, author: String?),
    _ state: StoreState
  ) throws {
    guard let address = RecordAddress(place) else {
      throw state.inconsistency(at: place, header.reference)
    }
    record = RecordDescription(header, at: address)
    previous = header.previous
    (sequence, microseconds, author) = origin
    self.state = state
    let body = bytes.extracting(header.bodyRange)
    switch header.kind {
    case .insert: kind = .insert
    case .fullImage: kind = .update(changed: nil)
    case .delete: kind = .delete
    case .delta where state.isRemoved(table: header.table): kind = .update(changed: nil)
    case .delta:
      let layout = state.tables[Int(header.table)]?.layouts[Int(header.layout.rawValue)]
      guard let layout, let changed = RowDelta.changedColumns(of: body, layout: layout) else {
        throw state.inconsistency(at: place, header.reference)
      }
      kind = .update(changed: changed)
    case .catalogue:
      guard let changes = CatalogueChange.decodeList(body) else {
        throw state.inconsistency(at: place, header.reference)
      }
      kind = .catalogue(changes)
    }
  }

  /// Lends the row after this change; for a deletion, the columns that it preserved.
  ///
  /// - Parameter body: Called with the row's bytes, which it must not keep, and their layout.
  /// - Returns: The result of `body`; `nil` if there is no row: for a change of the catalogue, and a deletion that preserved
  ///   nothing; and for a row of a table that was removed before the store was opened.
  /// - Throws: ``/LogFormat/StorageError/corruption(_:)`` if a record is damaged, or any error that `body` throws.
  public func withRow<R>(_ body: (RawSpan, LayoutNumber) throws -> R) throws -> R? {
    if state.isRemoved(table: reference.table) { return nil }
    switch kind {
    case .catalogue: return nil
    case .delete:
      let ticket = state.files.epochs.enter()
      defer { state.files.epochs.leave(ticket) }
      return try state.withRecord(at: place, of: reference) { header, bytes -> R? in
        guard header.layout != .none else { return nil }
        let row = bytes.extracting(header.bodyRange)
        return try state.withLayout(of: header, at: place, for: reference) { layout in
          guard layout.isValid(row) else { throw state.inconsistency(at: place, reference) }
          return try body(row, header.layout)
        }
      }
    case .insert, .update: return try withRow(at: place, body)
    }
  }

  /// Lends the row before this change.
  ///
  /// - Returns: The result of `body`; `nil` for an insertion and a change of the catalogue, and for a row of a table that was
  ///   removed before the store was opened.
  public func withRowBefore<R>(_ body: (RawSpan, LayoutNumber) throws -> R) throws -> R? {
    if previous.isNone || state.isRemoved(table: reference.table) { return nil }
    return try withRow(at: previous, body)
  }

  private var place: RecordPlace {
    RecordPlace(segment: record.address.segment, offset: record.address.offset)
  }

  private func withRow<R>(
    at place: RecordPlace,
    _ body: (RawSpan, LayoutNumber) throws -> R
  ) throws -> R {
    var scratch = FoldScratch()
    let layout = try state.files.reading { try state.fold(place, reference, into: &scratch) }
    return try body(scratch.row, layout)
  }
}
