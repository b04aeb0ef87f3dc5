import LogFormat
public import RowFormat

/// The address of a record, by which the index and other records refer to it.
public struct RecordAddress: Hashable, Sendable {
  /// The segment that holds the record.
  public let segment: SegmentID
  /// The offset in the segment's file.
  public let offset: Int

  package init?(_ place: RecordPlace) {
    // A row of a pack has no record.
    if place.isNone || place.isPacked { return nil }
    segment = place.segment
    offset = place.offset
  }
}

/// The header of a record, without its body.
public struct RecordDescription: Hashable, Sendable {
  /// The address of the record.
  public let address: RecordAddress
  /// The kind of the record: an insert, an update, a deletion, or a change of the catalogue.
  public let kind: RecordKind
  /// The row of the record; none for a change of the catalogue.
  public let reference: RowReference
  /// The layout of the row, or of the row a delta is applied to.
  public let layout: LayoutNumber
  /// The number of deltas between this record and a whole row.
  public let chainDepth: Int
  /// The size of the chain's deltas, as a share of the whole row.
  public let chainLoad: Double
  /// The size of the record with its header and padding, in bytes.
  public let byteCount: Int
  /// The size of the record's body, without header and padding, in bytes.
  public let bodyByteCount: Int
  /// The CRC-32C of the record, as its header has it.
  public let checksum: UInt32
  /// The record of the same row before this one.
  public let previous: RecordAddress?

  package init(_ header: RecordHeader, at address: RecordAddress) {
    self.address = address
    kind = header.kind
    reference = header.kind == .catalogue ? .none : header.reference
    layout = header.layout
    chainDepth = Int(header.depth)
    chainLoad = Double(header.load) / 255
    byteCount = header.totalByteCount
    bodyByteCount = header.bodyLength
    checksum = header.checksum
    previous = RecordAddress(header.previous)
  }
}
