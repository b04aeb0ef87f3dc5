/// The encoding of a column's values in a chunk; raw values are on disk, so add, never renumber.
///
/// A chunk is the values of one column in the rows of one block. Uncompressed, it is
///
///     nulls   ⌈rows / 8⌉   bit *i* set: row *i* is null; only if the chunk's entry says so
///     values  the rest     one for each row, whatever it is in rows that are null
///
/// `values` is described with each case. Integers are little-endian.
package enum ColumnEncoding: UInt8 {
  /// All rows are null; the chunk has no bytes at all.
  case absent = 0
  /// For a type of fixed width, the values as in a row: 8 bytes of a double or date, 16 of a UUID. For any other, an
  /// ``IntegerCoding`` of their lengths in bytes, then their bytes.
  case plain = 1
  /// An ``IntegerCoding`` of integers, of references as 64-bit integers, or of the keys.
  case integers = 2
  /// Doubles and dates that are whole numbers divided by a power of ten: a byte, the exponent of that
  /// power, then an ``IntegerCoding`` of the whole numbers.
  case decimals = 3
  /// Bools: ⌈rows / 8⌉ bytes; bit *i* is row *i*.
  case bits = 4
  /// Values in the pack's dictionary of the column: a byte, the width of a code, then ``BitPacking`` of their codes. Code *n*
  /// is the dictionary's value *n*, from 0.
  case dictionary = 5
  /// Keys without a gap; the chunk has no bytes.
  case dense = 6
}

/// The storage of a chunk; raw values are on disk.
enum ChunkCodec: UInt8 {
  case stored = 0
  /// One LZ4 block.
  case lz4 = 1

  /// Returns the limit of a compressed chunk: LZ4 must save an eighth, or decompression does not pay.
  static func limit(_ count: Int) -> Int { count - (count + 7) / 8 }

  /// The minimum size for compression, in bytes: shorter chunks gain too little.
  static let leastByteCount = 64
}
