import RowFormat

/// The distinct values of one column of a pack, numbered in the order of their first occurrence.
///
/// Blocks refer to values by number, so that each value is in the pack only once. If too many values are distinct, the column's
/// dictionary ends: its values stay, but later blocks contain their values themselves.
final class DictionaryBuilder {
  /// The values one behind the other, and the end of each.
  @safe @exclusivity(unchecked) private(set) var bytes = ByteBuffer(capacity: 1024)
  @safe @exclusivity(unchecked) private(set) var ends: [Int] = []
  private(set) var isEnded = false
  /// Open addressing: the number of a value plus one, in the slot given by its checksum.
  @safe @exclusivity(unchecked) private var slots: [UInt32]
  @safe @exclusivity(unchecked) private var checksums: [UInt32] = []
  @safe @exclusivity(unchecked) private var rowCount = 0

  /// Longer values are not added, and do not end the dictionary.
  static let longestValue = 256
  static let entryLimit = 1 << 16
  static let byteLimit = 1 << 20

  /// Returns the limit of a dictionary with that many values, in bytes: their lengths and the values.
  static func chunkLimit(_ count: Int) -> Int {
    IntegerCoding.byteLimit(count) + byteLimit
  }
  /// The number of distinct values below which repetition is not checked.
  private static let freeEntryCount = 4096
  private static let freeByteCount = 256 << 10

  init() { slots = Array(repeating: 0, count: 64) }

  var count: Int { ends.count }

  func value(_ number: Int) -> Range<Int> {
    (number == 0 ? 0 : ends[number - 1])..<ends[number]
  }

  /// Numbers the values of a block.
  ///
  /// - Parameters:
  ///   - rows: The values' bytes.
  ///   - ranges: The range of each value in these bytes.
  ///   - codes: Receives the numbers, which are appended.
  /// - Returns: `false` if the block must contain its values itself; then nothing has changed.
  func number(_ rows: RawSpan, _ ranges: [Range<Int>], into codes: inout [UInt16]) -> Bool {
    guard !isEnded, ranges.allSatisfy({ $0.count <= Self.longestValue }) else { return false }
    let known = count
    for range in ranges {
      guard let code = number(rows.extracting(range)) else {
        end(keeping: known)
        codes.removeAll(keepingCapacity: true)
        return false
      }
      codes.append(code)
    }
    rowCount += ranges.count
    if count > max(Self.freeEntryCount, rowCount / 4)
      || bytes.count > max(Self.freeByteCount, rowCount * 2)
    {
      end(keeping: known)
      codes.removeAll(keepingCapacity: true)
      return false
    }
    return true
  }

  private func end(keeping known: Int) {
    isEnded = true
    ends.removeSubrange(known...)
    bytes.truncate(to: ends.last ?? 0)
    slots = []
    checksums = []
  }

  private func number(_ value: RawSpan) -> UInt16? {
    let checksum = CRC32C.extend(0, over: value)
    var slot = Int(checksum) & (slots.count - 1)
    while slots[slot] != 0 {
      let number = Int(slots[slot]) - 1
      if checksums[number] == checksum,
        bytes.bytes.extracting(self.value(number)).isEqual(to: value)
      {
        return UInt16(number)
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    guard count < Self.entryLimit, bytes.count + value.byteCount <= Self.byteLimit else {
      return nil
    }
    bytes.append(value)
    ends.append(bytes.count)
    checksums.append(checksum)
    slots[slot] = UInt32(count)
    if count * 2 > slots.count { grow() }
    return UInt16(count - 1)
  }

  private func grow() {
    slots = Array(repeating: 0, count: slots.count * 2)
    for (number, checksum) in checksums.enumerated() {
      var slot = Int(checksum) & (slots.count - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = UInt32(number + 1)
    }
  }
}

extension RawSpan {
  /// Whether two spans contain the same bytes.
  func isEqual(to other: RawSpan) -> Bool {
    let count = byteCount
    guard count == other.byteCount else { return false }
    var offset = 0
    while count - offset >= 8 {
      if load(UInt64.self, at: offset) != other.load(UInt64.self, at: offset) { return false }
      offset += 8
    }
    while offset < count {
      if load(UInt8.self, at: offset) != other.load(UInt8.self, at: offset) { return false }
      offset += 1
    }
    return true
  }
}
