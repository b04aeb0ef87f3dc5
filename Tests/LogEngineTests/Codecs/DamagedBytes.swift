import RowFormat

/// The ways in which encoded bytes are damaged before a decoder gets them.
struct DamagedBytes {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  init(_ encode: (inout ByteBuffer) -> Void) {
    var buffer = ByteBuffer()
    encode(&buffer)
    bytes = buffer.bytes.withUnsafeBytes { Array($0) }
  }

  /// Turns over each bit of some bytes, one at a time.
  func forEachFlip(in range: Range<Int>? = nil, _ body: (_ damaged: [UInt8], _ bit: Int) -> Void) {
    var damaged = bytes
    for byte in range ?? bytes.indices {
      for bit in 0..<8 {
        damaged[byte] ^= 1 << UInt8(bit)
        body(damaged, byte * 8 + bit)
        damaged[byte] ^= 1 << UInt8(bit)
      }
    }
  }

  /// Gives each byte the values at which lengths, counts and kinds break.
  func forEachForgery(_ body: (_ damaged: [UInt8], _ byte: Int) -> Void) {
    var damaged = bytes
    for byte in bytes.indices {
      let old = damaged[byte]
      for value in [0, 1, 0x7F, 0x80, 0xFE, 0xFF] as [UInt8] where value != old {
        damaged[byte] = value
        body(damaged, byte)
      }
      damaged[byte] = old
    }
  }

  /// Leaves ever fewer bytes.
  func forEachCut(_ body: (_ damaged: [UInt8]) -> Void) {
    for count in bytes.indices { body(Array(bytes.prefix(count))) }
  }
}

/// Which of the bits that were turned over a decoder let pass.
func acceptedFlips(
  of bytes: DamagedBytes,
  in range: Range<Int>? = nil,
  _ accepts: ([UInt8]) -> Bool
) -> [Int] {
  var accepted: [Int] = []
  bytes.forEachFlip(in: range) { damaged, bit in if accepts(damaged) { accepted.append(bit) } }
  return accepted
}

/// Which shorter lengths a decoder let pass.
func acceptedCuts(of bytes: DamagedBytes, _ accepts: ([UInt8]) -> Bool) -> [Int] {
  var accepted: [Int] = []
  bytes.forEachCut { damaged in if accepts(damaged) { accepted.append(damaged.count) } }
  return accepted
}
