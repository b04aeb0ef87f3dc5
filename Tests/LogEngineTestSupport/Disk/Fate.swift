/// What a power cut makes of one pending operation.
package enum Fate: Sendable, Hashable {
  /// As if it had never been asked for.
  case lost
  /// It reached the disk.
  case kept
  /// Of a write, only so many bytes from its start reached the disk, and the file is no longer.
  case torn(byteCount: Int)
  /// Each of a write's sectors went its own way; the file is as long as after the whole write.
  case sectors([SectorFate])
}

/// What a power cut makes of one sector of a write.
///
/// Bytes that the write did not change keep their value whatever happens: the disk is assumed to
/// be one on which a failed write harms nothing beside it.
package enum SectorFate: UInt8, Sendable, Hashable, CaseIterable {
  case old, new, zeros, garbage
}

extension FileImage {
  /// Makes a write as far as its fate lets it.
  mutating func write(_ bytes: [UInt8], at offset: Int, fate: Fate) {
    switch fate {
    case .lost: return
    case .kept: write(bytes, at: offset)
    case .torn(let count):
      bytes.withUnsafeBytes {
        write(UnsafeRawBufferPointer(rebasing: $0.prefix(count)), at: offset)
      }
    case .sectors(let fates):
      if offset + bytes.count > size { resize(offset + bytes.count) }
      for (index, fate) in fates.enumerated() {
        let sector = (offset / sectorByteCount + index) * sectorByteCount
        let range =
          max(sector, offset)..<min(sector + sectorByteCount, offset + bytes.count)
        write(bytes, at: offset, range, fate)
      }
    }
  }

  private mutating func write(
    _ bytes: [UInt8],
    at offset: Int,
    _ range: Range<Int>,
    _ fate: SectorFate
  ) {
    guard fate != .old, !range.isEmpty else { return }
    var part = Array(bytes[(range.lowerBound - offset)..<(range.upperBound - offset)])
    if fate != .new {
      var random = SeededGenerator(seed: UInt64(range.lowerBound))
      let old = self.bytes(range)
      for index in part.indices where part[index] != old[index] {
        part[index] = fate == .zeros ? 0 : UInt8(truncatingIfNeeded: random.next())
      }
    }
    write(part, at: range.lowerBound)
  }
}
