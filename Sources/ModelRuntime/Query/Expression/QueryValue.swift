package import Foundation
package import RowFormat

/// A value in an expression; its context determines its kind.
///
/// Equal values of one kind are equal here exactly if they are equal in Swift: text by canonical
/// equivalence, doubles with NaN unlike itself.
package enum QueryValue: Hashable, Sendable {
  case null
  case bool(Bool)
  /// An integer; an unsigned one by its bits.
  case integer(Int64)
  /// A double, a widened float, or the seconds of a date.
  case double(Double)
  case uuid(QueryUUID)
  case text(String)
  case bytes(Data)
  /// The name of a row in the user's form.
  case identifier(PersistentIdentifier)
  /// The name of a row in the form of rows.
  case reference(RowReference)
  /// A value that only its Swift type understands.
  case opaque(OpaqueValue)

  package var isNull: Bool {
    if case .null = self { true } else { false }
  }
}

/// The sixteen bytes of a UUID as two little-endian words, in the order of the bytes.
package struct QueryUUID: Hashable, Sendable, Comparable {
  package let low: UInt64
  package let high: UInt64

  package init(_ low: UInt64, _ high: UInt64) {
    self.low = low
    self.high = high
  }

  package static func < (lhs: QueryUUID, rhs: QueryUUID) -> Bool {
    (lhs.low.byteSwapped, lhs.high.byteSwapped) < (rhs.low.byteSwapped, rhs.high.byteSwapped)
  }
}

extension QueryValue {
  /// Whether this value precedes another of the same kind; neither is null.
  ///
  /// Kinds without an order, and values of another kind, precede nothing.
  func precedes(_ other: QueryValue, as kind: QueryKind) -> Bool {
    switch (self, other) {
    case (.integer(let lhs), .integer(let rhs)):
      kind == .unsigned ? UInt64(bitPattern: lhs) < UInt64(bitPattern: rhs) : lhs < rhs
    case (.double(let lhs), .double(let rhs)): lhs < rhs
    case (.text(let lhs), .text(let rhs)): lhs.canonicalOrder(rhs) < 0
    case (.uuid(let lhs), .uuid(let rhs)): lhs < rhs
    default: false
    }
  }
}
