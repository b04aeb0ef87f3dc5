/// One way the bytes of a store can change while nobody looks.
package struct Damage: Sendable, CustomStringConvertible {
  package var path: String
  package var kind: Kind

  package enum Kind: Sendable {
    case flip(bit: Int)
    /// Bytes from an offset on become others.
    case scramble(Range<Int>, seed: UInt64)
    case zero(Range<Int>)
    case overwrite(Int, [UInt8])
    /// Bytes stand where those of another place should: a write that went astray.
    case misplace(from: String, offset: Int, Range<Int>)
    case resize(Int)
    case swap(with: String)
    case remove
  }

  package init(path: String, kind: Kind) {
    self.path = path
    self.kind = kind
  }

  package var description: String { "\(path) \(kind)" }

  /// Damages a disk.
  package func apply(to disk: inout Disk) {
    switch kind {
    case .flip(let bit): disk.damage(path) { $0.flip(bit: bit) }
    case .scramble(let range, let seed):
      var random = SeededGenerator(seed: seed)
      let bytes = range.map { _ in UInt8(truncatingIfNeeded: random.next()) }
      disk.damage(path) { $0.write(bytes, at: range.lowerBound) }
    case .zero(let range):
      disk.damage(path) {
        $0.write([UInt8](repeating: 0, count: range.count), at: range.lowerBound)
      }
    case .overwrite(let offset, let bytes): disk.damage(path) { $0.write(bytes, at: offset) }
    case .misplace(let source, let offset, let range):
      let bytes = disk.image(of: source)?.bytes(offset..<(offset + range.count)) ?? []
      disk.damage(path) { $0.write(bytes, at: range.lowerBound) }
    case .resize(let size): disk.damage(path) { $0.resize(size) }
    case .swap(let other):
      guard let mine = disk.image(of: path), let others = disk.image(of: other) else { return }
      disk.damage(path) { $0 = others }
      disk.damage(other) { $0 = mine }
    case .remove: disk.remove(path)
    }
  }

  /// A bit of one of a disk's files that is not zero now: the log's end is mostly zeros.
  package static func randomFlip(in disk: Disk, using random: inout SeededGenerator) -> Damage? {
    guard let path = disk.paths.randomElement(using: &random), let image = disk.image(of: path),
      let last = image.bytes(0..<image.size).lastIndex(where: { $0 != 0 })
    else { return nil }
    return Damage(path: path, kind: .flip(bit: Int.random(in: 0..<(last * 8 + 8), using: &random)))
  }

  /// Some damage to one of a disk's files.
  package static func random(in disk: Disk, using random: inout SeededGenerator) -> Damage? {
    guard let path = disk.paths.randomElement(using: &random),
      let other = disk.paths.randomElement(using: &random),
      let size = disk.image(of: path)?.size
    else { return nil }
    guard size > 0 else { return Damage(path: path, kind: .remove) }
    let start = Int.random(in: 0..<size, using: &random)
    let burst = start..<min(size, start + Int.random(in: 1...64, using: &random))
    let sector = start / sectorByteCount * sectorByteCount
    let sectors =
      sector..<min(size, sector + sectorByteCount << Int.random(in: 0...3, using: &random))
    let kind: Kind =
      switch Int.random(in: 0..<12, using: &random) {
      case 0...3: .flip(bit: start * 8 + Int.random(in: 0..<8, using: &random))
      case 4, 5: .scramble(burst, seed: random.next())
      case 6: .zero(sectors)
      case 7, 8:
        .misplace(
          from: other,
          offset: Int.random(in: 0..<128, using: &random) * sectorByteCount,
          sectors
        )
      case 9: .resize(random.oneIn(2) ? start : size + start)
      case 10: .swap(with: other)
      default: .remove
      }
    return Damage(path: path, kind: kind)
  }
}
