/// A row as bytes.
public struct KeyedRow: Sendable {
  public let key: UInt64
  public let bytes: [UInt8]

  public init(key: UInt64, bytes: [UInt8]) {
    self.key = key
    self.bytes = bytes
  }
}

/// A store of rows that are nothing but bytes to it.
public protocol RowStore: AnyObject {
  /// Adds rows in one commit, in the order of their keys.
  func insert(_ rows: [KeyedRow]) throws

  /// Brings the files to the least size the contender offers by itself.
  ///
  /// - Returns: Whether it offers anything.
  /// - Throws: What the contender reports.
  func compact() throws -> Bool

  /// Writes out what is not yet, and closes.
  func close() throws
}
