/// The number of a side file; assigned once and never reused for another file.
public struct BlobID: RawRepresentable, Hashable, Sendable, Comparable {
  public let rawValue: UInt64

  @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The greatest number of a blob.
  public static let maximum = BlobID(rawValue: 1 << 56 - 1)

  /// Whether the number is valid for a blob.
  @inlinable public var isValid: Bool { 1...BlobID.maximum.rawValue ~= rawValue }

  @inlinable public static func < (lhs: BlobID, rhs: BlobID) -> Bool {
    lhs.rawValue < rhs.rawValue
  }
}

/// A row's reference to the side file with one of its values.
public struct BlobReference: Hashable, Sendable {
  /// The number of the side file.
  public let id: BlobID
  /// The size of the value, in bytes.
  public let byteCount: Int
  /// The CRC-32C of the value's bytes.
  public let checksum: UInt32

  /// Creates a reference to a side file; `checksum` is the CRC-32C of its value.
  public init(id: BlobID, byteCount: Int, checksum: UInt32) {
    self.id = id
    self.byteCount = byteCount
    self.checksum = checksum
  }

  /// Limit of a blob, in bytes.
  public static let byteCountLimit = 1 << 48
}

/// The value of a column of type ``ColumnType/blob``; integers are little-endian.
///
///     offset  size  field
///          0     1  form       0: the value's bytes follow; 1: they are in a side file
///          1     8  number     ``BlobID``
///          9     8  length     of the value, in bytes
///         17     4  checksum   CRC-32C of the value's bytes
///
/// The last three only in form 1. The name of a file follows from its number alone, so that no value, however damaged, leads
/// out of the folder of blobs.
public enum BlobValue: Hashable, Sendable {
  /// The value's bytes are in the row, at this range, counted like the range passed for decoding.
  case inline(Range<Int>)
  /// The value's bytes are in this side file.
  case external(BlobReference)

  enum Form: UInt8 { case inline = 0, external }

  static let externalByteCount = 21

  /// Reads a value; `nil` if the bytes are not a value.
  ///
  /// - Parameters:
  ///   - bytes: The row, or other bytes that include the value.
  ///   - range: The bytes of the value in the row.
  public init?(decoding bytes: RawSpan, in range: Range<Int>) {
    guard !range.isEmpty,
      let form = Form(rawValue: bytes.load(UInt8.self, at: range.lowerBound))
    else { return nil }
    switch form {
    case .inline: self = .inline((range.lowerBound + 1)..<range.upperBound)
    case .external:
      guard range.count == BlobValue.externalByteCount else { return nil }
      let id = BlobID(rawValue: bytes.load(UInt64.self, at: range.lowerBound + 1))
      let length = bytes.load(UInt64.self, at: range.lowerBound + 9)
      guard id.isValid, length <= UInt64(BlobReference.byteCountLimit) else { return nil }
      let checksum = bytes.load(UInt32.self, at: range.lowerBound + 17)
      self = .external(BlobReference(id: id, byteCount: Int(length), checksum: checksum))
    }
  }

  /// The side file, if there is one.
  public var reference: BlobReference? {
    if case .external(let reference) = self { reference } else { nil }
  }
}

// MARK: Rows

extension RowLayout {
  /// Returns the value of a blob column; `nil` for null, for invalid bytes, and for other columns.
  public func blob(_ column: Int, in row: RawSpan) -> BlobValue? {
    guard types[column] == .blob, !isNull(column, in: row) else { return nil }
    return BlobValue(decoding: row, in: range(column, in: row))
  }

  /// Visits the side files with values of a row, with their columns.
  public func forEachBlob(
    in row: RawSpan,
    _ body: (_ column: Int, BlobReference) throws -> Void
  ) rethrows {
    for column in blobColumns {
      if let reference = blob(column, in: row)?.reference { try body(column, reference) }
    }
  }

  /// Whether every blob column has a valid value or is null.
  public func hasValidBlobs(in row: RawSpan) -> Bool {
    blobColumns.allSatisfy { isNull($0, in: row) || blob($0, in: row) != nil }
  }
}

extension RowWriter {
  /// Sets a blob column to bytes that are in the row itself.
  public mutating func append(_ column: Int, inlineBlob bytes: RawSpan) {
    open(column)
    buffer.append(BlobValue.Form.inline.rawValue)
    buffer.append(bytes)
    closeOrdinal()
  }

  /// Sets a blob column to bytes that are in a side file.
  public mutating func append(_ column: Int, blob reference: BlobReference) {
    open(column)
    buffer.append(BlobValue.Form.external.rawValue)
    buffer.append(reference.id.rawValue)
    buffer.append(UInt64(reference.byteCount))
    buffer.append(reference.checksum)
    closeOrdinal()
  }
}
