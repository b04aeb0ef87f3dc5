import LogFormat
import RowFormat

/// The copies in `members/SYNC` of the next free numbers in `TURN`.
///
///     512   16 each: by table the lowest key not allocated, and before the tables the lowest such rank
///           0   8   the number
///           8   4   the CRC-32C of the number in the head of the file, the table or 0, and the number
///           12  4   0
///
/// A number in `TURN` may be lost with its file, and the keys that members hold in reserve are recorded nowhere else. Of two
/// numbers the greater one is the later, because members of earlier versions write only the one in `TURN`. Both are written in
/// a turn.
struct NumberCopies: Sendable {
  let file: any OpenFile
  /// The number in the head of the file: copies of earlier members do not count.
  let members: UInt64

  private static let offset = 512
  private static let byteCount = 16
  private static let greatestRank = UInt64.max / 4

  /// Returns the copy of a table's number, or of the rank's for 0; `nil` if it is missing or damaged.
  func read(_ table: UInt16) throws(StorageError) -> UInt64? {
    let bytes = try file.readBytes(Self.byteCount, at: place(of: table))
    guard bytes.count == Self.byteCount else { return nil }
    let number = bytes.load(UInt64.self, at: 0)
    // No member allocates so great a number, whatever its checksum.
    guard number <= (table == 0 ? Self.greatestRank : RowReference.maximumStoredKey) else {
      return nil
    }
    return bytes.load(UInt64.self, at: 8) == UInt64(checksum(of: number, table)) ? number : nil
  }

  /// Writes the copy of a number.
  func write(_ number: UInt64, _ table: UInt16) throws(StorageError) {
    var bytes = ByteBuffer(capacity: Self.byteCount)
    bytes.append(number)
    bytes.append(UInt64(checksum(of: number, table)))
    do throws(StorageError) {
      try bytes.write(to: file, at: place(of: table))
    } catch .noSpace {
      // The number in `TURN` counts.
    }
  }

  private func place(of table: UInt16) -> Int { Self.offset + Int(table) * Self.byteCount }

  private func checksum(of number: UInt64, _ table: UInt16) -> UInt32 {
    CRC32C.extend(
      CRC32C.extend(CRC32C.extend(0, over: members), over: UInt64(table)),
      over: number
    )
  }
}
