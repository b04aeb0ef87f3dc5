import LogFormat
import RowFormat

/// A row together with the records that it was assembled from.
///
/// A commit that replaces a row keeps columns of the row, and counts its records as dead. The memory is reused from row to row.
struct RowChain: ~Copyable {
  typealias Record = (place: RecordPlace, header: RecordHeader)

  private var scratch = FoldScratch()
  /// The records, the newest first.
  private(set) var records: [Record] = []
  /// The row's layout.
  private(set) var layout = LayoutNumber.none

  /// The row.
  var row: RawSpan {
    @_lifetime(borrow self) get { scratch.row }
  }

  /// Reads a row that is a record of its own.
  mutating func read(_ row: RawSpan, _ header: RecordHeader, at place: RecordPlace) {
    records.removeAll(keepingCapacity: true)
    records.append((place, header))
    layout = header.layout
    scratch.begin(row)
  }

  /// Reads a row from its newest record, which is no delete.
  ///
  /// - Throws: ``StorageError/corruption(_:)`` if a record is damaged.
  mutating func read(
    _ reference: RowReference,
    at place: RecordPlace,
    in state: StoreState
  ) throws {
    var found: [Record] = []
    swap(&found, &records)
    defer { swap(&found, &records) }
    layout = try state.fold(
      place,
      reference,
      into: &scratch,
      begin: { found.removeAll(keepingCapacity: true) },
      { found.append(($0, $1)) }
    )
  }

  /// Lends the row, and an empty writer for the one that takes its place.
  mutating func replace(_ body: (RawSpan, inout RowWriter) -> Void) { scratch.replace(body) }

  /// Lends the row to be changed where it is.
  mutating func edit<R>(_ body: (inout RowWriter) throws -> R) rethrows -> R {
    try scratch.edit(body)
  }
}
