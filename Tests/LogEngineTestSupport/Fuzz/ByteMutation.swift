/// Changes of bytes that know nothing of what they mean, but of what decoders stumble over.
package enum ByteMutation {
  package static let numbers: [UInt64] = [
    0, 1, 2, 7, 8, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x1_0000, 0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFF8, 0xFFFF_FFFF, 1 << 32, 1 << 38, 1 << 44, 1 << 48, 1 << 56, 1 << 62, 1 << 63,
    .max - 7,
    .max,
  ]

  /// Changes bytes in a range a few times; their number stays.
  package static func poke(
    _ bytes: inout [UInt8],
    in range: Range<Int>,
    using random: inout SeededGenerator
  ) {
    let range = range.clamped(to: 0..<bytes.count)
    guard !range.isEmpty else { return }
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let at = Int.random(in: range, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 1: bytes[at] = UInt8.random(in: .min ... .max, using: &random)
      case 2:
        let number = varint(numbers.randomElement(using: &random) ?? 0)
        for (index, byte) in number.enumerated() where at + index < range.upperBound {
          bytes[at + index] = byte
        }
      default:
        let number = numbers.randomElement(using: &random) ?? 0
        let width = [1, 2, 4, 8].randomElement(using: &random) ?? 1
        for index in 0..<width where at + index < range.upperBound {
          bytes[at + index] = UInt8(truncatingIfNeeded: number >> UInt64(index * 8))
        }
      }
    }
  }

  /// Changes bytes in any way: also by leaving some out, putting some in, and repeating some.
  package static func mutate(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let at = Int.random(in: 0...bytes.count, using: &random)
      let count = Int.random(in: 0...min(32, bytes.count - at), using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0: bytes.removeSubrange(at..<(at + count))
      case 1: bytes.insert(contentsOf: bytes[at..<(at + count)], at: at)
      case 2: bytes.insert(contentsOf: varint(numbers.randomElement(using: &random) ?? 0), at: at)
      case 3: bytes.removeSubrange(at...)
      default: poke(&bytes, in: 0..<bytes.count, using: &random)
      }
    }
  }

  /// Bytes without any sense.
  package static func noise(upTo limit: Int, using random: inout SeededGenerator) -> [UInt8] {
    (0..<Int.random(in: 0...limit, using: &random)).map { _ in
      random.oneIn(3) ? 0 : UInt8.random(in: .min ... .max, using: &random)
    }
  }

  static func varint(_ number: UInt64) -> [UInt8] {
    var number = number
    var bytes: [UInt8] = []
    while number >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: number) | 0x80)
      number >>= 7
    }
    return bytes + [UInt8(number)]
  }
}
