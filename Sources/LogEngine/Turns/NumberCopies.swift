import LogFormat
import RowFormat

/// The copies in `members/SYNC` of the numbers that `TURN` gives out.
///
///     512   16 each: by table the lowest key that was not given out, and before the tables the lowest such rank
///           0   8   the number
///           8   4   the CRC-32C of the number in the head of the file, the table or 0, and the number
///           12  4   0
///
/// A number in `TURN` may be lost with its file, and which keys the members hold in reserve stands nowhere else. Of two
/// numbers the greater one was given out later, for members of earlier versions write the one in `TURN` alone. Both are written
/// in a turn.
struct NumberCopies: Sendable {
  let file: any OpenFile
  /// The number in the head of the file: copies of earlier members say nothing.
  let members: UInt64

  private static let offset = 512
  private static let byteCount = 16
  private static let greatestRank = UInt64.max / 4

  /// The copy of a table's number, or of the rank's for 0; `nil` if there is none, or it is damaged.
  func read(_ table: UInt16) throws(StorageError) -> UInt64? {
    let bytes = try file.readBytes(Self.byteCount, at: place(of: table))
    guard bytes.count == Self.byteCount else { return nil }
    let number = bytes.load(UInt64.self, at: 0)
    // Nobody gives out so great a number, whatever its checksum.
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
      // The one in `TURN` counts.
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
