import Foundation
import RowFormat

extension RawSpan {
  /// Whether the bytes come before others, in the order in which the first different one decides.
  func isBefore(_ other: RawSpan) -> Bool {
    let order = compareFirst(other)
    return order != 0 ? order < 0 : byteCount < other.byteCount
  }

  func isEqual(_ other: RawSpan) -> Bool {
    byteCount == other.byteCount && compareFirst(other) == 0
  }

  func begins(with other: RawSpan) -> Bool {
    byteCount >= other.byteCount && compareFirst(other) == 0
  }

  /// Compares as many bytes as both have.
  private func compareFirst(_ other: RawSpan) -> Int32 {
    let count = min(byteCount, other.byteCount)
    return unsafe withUnsafeBytes { own in
      unsafe other.withUnsafeBytes { others in
        guard count > 0, let lhs = own.baseAddress, let rhs = others.baseAddress else { return 0 }
        return unsafe memcmp(lhs, rhs, count)
      }
    }
  }

  /// The first offset of some bytes in a part of these; `nil` if they do not occur, or are none.
  ///
  /// Eight places at a time are tested for the first and the last of them.
  func firstOffset(of wanted: RawSpan, in range: Range<Int>) -> Int? {
    let last = wanted.byteCount - 1
    guard last >= 0 else { return nil }
    let end = range.upperBound - last
    let ones: UInt64 = 0x0101_0101_0101_0101
    let firstBytes = UInt64(wanted.load(UInt8.self, at: 0)) &* ones
    let lastBytes = UInt64(wanted.load(UInt8.self, at: last)) &* ones
    return unsafe withUnsafeBytes { bytes in
      unsafe wanted.withUnsafeBytes { wanted in
        guard let base = bytes.baseAddress, let needle = wanted.baseAddress else { return nil }
        func matches(at place: Int) -> Bool { unsafe memcmp(base + place, needle, last + 1) == 0 }
        var offset = range.lowerBound
        while offset &+ 8 <= end {
          let firsts = unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          let lasts = unsafe base.loadUnaligned(fromByteOffset: offset &+ last, as: UInt64.self)
          let mismatches = (firsts ^ firstBytes) | (lasts ^ lastBytes)
          // Not zero if some byte is, and seldom otherwise.
          if (mismatches &- ones) & ~mismatches & 0x8080_8080_8080_8080 != 0 {
            for place in offset..<(offset &+ 8) where matches(at: place) { return place }
          }
          offset &+= 8
        }
        while offset < end {
          if matches(at: offset) { return offset }
          offset &+= 1
        }
        return nil
      }
    }
  }
}
