#if PostgreSQL
import CPostgres
import Foundation

/// The result of one statement, in the server's binary form.
final class StatementResult {
  private let handle: OpaquePointer

  /// Takes over a result of libpq.
  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { PQclear(handle) }

  var rowCount: Int { Int(PQntuples(handle)) }
  var columnCount: Int { Int(PQnfields(handle)) }

  /// Number of rows that the statement inserted, changed or deleted.
  var affectedCount: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

  func isNull(_ row: Int, _ column: Int) -> Bool {
    PQgetisnull(handle, Int32(row), Int32(column)) != 0
  }

  /// The bytes of a value; they live as long as the result.
  func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    let start = PQgetvalue(handle, Int32(row), Int32(column))
    let count = PQgetlength(handle, Int32(row), Int32(column))
    return UnsafeRawBufferPointer(start: start, count: Int(count))
  }

  /// The bytes of a value, or `nil` for null; they live as long as the result.
  func value(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
    let count = PQgetlength(handle, Int32(row), Int32(column))
    // Null has no bytes, as an empty value has none.
    if count == 0, isNull(row, column) { return nil }
    let start = PQgetvalue(handle, Int32(row), Int32(column))
    return UnsafeRawBufferPointer(start: start, count: Int(count))
  }

  func integer(_ row: Int, _ column: Int) -> Int64 {
    StatementResult.integer(bytes(row, column))
  }

  /// The number in the bytes of a value of two, four or eight.
  static func integer(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    switch bytes.count {
    case 8: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case 4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 2: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    default: 0
    }
  }

  func double(_ row: Int, _ column: Int) -> Double { StatementResult.double(bytes(row, column)) }

  /// The number in the bytes of a value.
  static func double(_ bytes: UnsafeRawBufferPointer) -> Double {
    guard bytes.count == 8 else { return 0 }
    return Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
  }

  func bool(_ row: Int, _ column: Int) -> Bool { bytes(row, column).first == 1 }

  func text(_ row: Int, _ column: Int) -> String {
    String(decoding: bytes(row, column), as: UTF8.self)
  }

  /// The text, or `nil` for null.
  func optionalText(_ row: Int, _ column: Int) -> String? {
    isNull(row, column) ? nil : text(row, column)
  }

  /// The elements of an array of bigint.
  func integers(_ row: Int, _ column: Int) -> [Int64] {
    let bytes = bytes(row, column)
    guard bytes.count >= 20 else { return [] }
    let count = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self)))
    guard bytes.count >= 20 + count * 12 else { return [] }
    return (0..<count).map {
      Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: 24 + $0 * 12, as: Int64.self))
    }
  }

  /// The elements of an array of text.
  func texts(_ row: Int, _ column: Int) -> [String] {
    let bytes = bytes(row, column)
    guard bytes.count >= 20 else { return [] }
    let count = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self)))
    var texts: [String] = []
    var offset = 20
    for _ in 0..<count {
      guard offset + 4 <= bytes.count else { break }
      let length = Int(
        Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
      )
      offset += 4
      guard length >= 0, offset + length <= bytes.count else { break }
      texts.append(
        String(
          decoding: UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)]),
          as: UTF8.self
        )
      )
      offset += length
    }
    return texts
  }
}
#endif
