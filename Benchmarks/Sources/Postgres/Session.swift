import CPQ
import Foundation

/// A session with libpq and nothing else: statements prepared once, parameters and results in binary, and as many
/// statements in one round trip as possible.
final class Session {
  private let handle: OpaquePointer
  private(set) var roundTripCount = 0

  struct Failure: Error, CustomStringConvertible { let description: String }

  init(_ url: String) throws {
    guard let handle = PQconnectdb(url), PQstatus(handle) == CONNECTION_OK else {
      throw Failure(description: "no session with \(url)")
    }
    self.handle = handle
    PQsetNoticeReceiver(handle, { _, _ in }, nil)
  }

  deinit { PQfinish(handle) }

  /// Runs statements that return nothing.
  func execute(_ sql: String) throws {
    let result = PQexec(handle, sql)
    defer { PQclear(result) }
    try check(result)
  }

  /// Prepares a statement under a name.
  func prepare(_ name: String, _ sql: String) throws {
    let result = PQprepare(handle, name, sql, 0, nil)
    defer { PQclear(result) }
    try check(result)
  }

  /// Runs one statement that was prepared.
  func run(_ name: String, _ values: Values = Values()) throws -> Rows {
    roundTripCount += 1
    return try values.withPointers { pointers, lengths, formats in
      let result = PQexecPrepared(
        handle,
        name,
        Int32(pointers.count),
        pointers,
        lengths,
        formats,
        1
      )
      let rows = Rows(result)
      try check(result)
      return rows
    }
  }

  /// Runs statements that were prepared, in one round trip, as one transaction.
  func runInTransaction(_ statements: [(name: String, values: Values)]) throws {
    roundTripCount += 1
    let all = [("begin", Values())] + statements + [("commit", Values())]
    guard PQenterPipelineMode(handle) == 1 else { throw failure() }
    for (name, values) in all {
      try values.withPointers { pointers, lengths, formats in
        let count = Int32(pointers.count)
        let isSent = PQsendQueryPrepared(handle, name, count, pointers, lengths, formats, 1)
        if isSent != 1 { throw failure() }
      }
    }
    guard PQpipelineSync(handle) == 1 else { throw failure() }
    for _ in all {
      let result = PQgetResult(handle)
      defer { PQclear(result) }
      try check(result)
      PQclear(PQgetResult(handle))
    }
    PQclear(PQgetResult(handle))
    guard PQexitPipelineMode(handle) == 1 else { throw failure() }
  }

  private func check(_ result: OpaquePointer?) throws {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK: return
    default: throw failure()
    }
  }

  private func failure() -> Failure {
    Failure(description: PQerrorMessage(handle).map { String(cString: $0) } ?? "libpq refused")
  }
}

/// Parameters of a statement, in binary.
struct Values {
  private var bytes: [UInt8] = []
  private var ranges: [Range<Int>?] = []

  mutating func append(_ write: (inout [UInt8]) -> Void) {
    let start = bytes.count
    write(&bytes)
    ranges.append(start..<bytes.count)
  }

  mutating func append(_ value: Int64) { append { $0.append(bigEndian: value) } }
  mutating func append(_ value: Double) { append { $0.append(bigEndian: value.bitPattern) } }
  mutating func append(_ value: Bool) { append { $0.append(value ? 1 : 0) } }
  mutating func append(_ value: String) { append { $0.append(contentsOf: value.utf8) } }
  mutating func append(_ value: UUID) {
    append { bytes in withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) } }
  }
  mutating func append(_ value: String?) {
    if let value { append(value) } else { ranges.append(nil) }
  }

  /// Appends an array of one dimension; an element writes its own bytes, or returns false for null.
  mutating func append<Element>(
    _ elements: some Collection<Element>,
    type: UInt32,
    _ write: (Element, inout [UInt8]) -> Bool
  ) {
    append { bytes in
      bytes.append(bigEndian: UInt32(1))
      bytes.append(bigEndian: UInt32(1))
      bytes.append(bigEndian: type)
      bytes.append(bigEndian: UInt32(elements.count))
      bytes.append(bigEndian: UInt32(1))
      for element in elements {
        let start = bytes.count
        bytes.append(bigEndian: UInt32.max)
        guard write(element, &bytes) else { continue }
        let length = UInt32(bytes.count - start - 4)
        for place in 0..<4 {
          bytes[start + place] = UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * place))
        }
      }
    }
  }

  fileprivate func withPointers<R>(
    _ body: ([UnsafePointer<CChar>?], [Int32], [Int32]) throws -> R
  ) rethrows -> R {
    try bytes.withUnsafeBufferPointer { bytes in
      try bytes.withMemoryRebound(to: CChar.self) { characters in
        let empty = UnsafePointer<CChar>(bitPattern: 1)
        let pointers = ranges.map { range -> UnsafePointer<CChar>? in
          guard let range else { return nil }
          return characters.baseAddress.map { $0 + range.lowerBound } ?? empty
        }
        let lengths = ranges.map { Int32($0?.count ?? 0) }
        return try body(pointers, lengths, Array(repeating: 1, count: ranges.count))
      }
    }
  }
}

extension [UInt8] {
  mutating func append<T: FixedWidthInteger>(bigEndian value: T) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}

/// The result of a statement, in binary.
final class Rows {
  private let handle: OpaquePointer?

  init(_ handle: OpaquePointer?) { self.handle = handle }

  deinit { PQclear(handle) }

  var count: Int { Int(PQntuples(handle)) }

  private func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: PQgetvalue(handle, Int32(row), Int32(column)),
      count: Int(PQgetlength(handle, Int32(row), Int32(column)))
    )
  }

  func integer(_ row: Int, _ column: Int) -> Int64 {
    Int64(bigEndian: bytes(row, column).loadUnaligned(as: Int64.self))
  }

  func double(_ row: Int, _ column: Int) -> Double {
    Double(bitPattern: UInt64(bitPattern: integer(row, column)))
  }

  func bool(_ row: Int, _ column: Int) -> Bool { bytes(row, column)[0] != 0 }

  func text(_ row: Int, _ column: Int) -> String {
    String(decoding: bytes(row, column), as: UTF8.self)
  }

  func optionalText(_ row: Int, _ column: Int) -> String? {
    PQgetisnull(handle, Int32(row), Int32(column)) == 1 ? nil : text(row, column)
  }
}
