import LogEngineTestSupport
import Testing

@Suite struct `An image of a file` {
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `holds what a plain array holds`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var image = FileImage()
    var plain: [UInt8] = []
    for _ in 0..<100 {
      let offset = Int.random(in: 0...10_000, using: &random)
      if random.oneIn(5) {
        image.resize(offset)
        plain = Array(plain.prefix(offset)) + repeatElement(0, count: max(0, offset - plain.count))
      } else {
        let count = Int.random(in: 1...9000, using: &random)
        let byte = random.oneIn(3) ? 0 : UInt8.random(in: 0...255, using: &random)
        image.write([UInt8](repeating: byte, count: count), at: offset)
        plain += repeatElement(0, count: max(0, offset + count - plain.count))
        plain.replaceSubrange(offset..<(offset + count), with: repeatElement(byte, count: count))
      }
    }
    #expect(image.size == plain.count)
    #expect(image.bytes == plain)
    #expect(image.hash == FileImage(plain).hash)
  }

  @Test func `does not change when a copy does`() {
    let original = FileImage([UInt8](repeating: 1, count: 9000))
    var copy = original
    copy.write([2], at: 5000)
    #expect(original.bytes(5000..<5001) == [1])
    #expect(copy.bytes(5000..<5001) == [2])
    #expect(original.hash != copy.hash)
  }

  @Test(arguments: [0, 7, 8 * 4096, 8 * 4097 - 1])
  func `has another hash after one bit was turned over, and the old one after twice`(bit: Int) {
    var image = FileImage([UInt8](repeating: 0, count: 4097))
    let hash = image.hash
    image.flip(bit: bit)
    #expect(image.hash != hash)
    #expect(image.bytes[bit / 8] == 1 << UInt8(bit % 8))
    image.flip(bit: bit)
    #expect(image.hash == hash)
  }
}
