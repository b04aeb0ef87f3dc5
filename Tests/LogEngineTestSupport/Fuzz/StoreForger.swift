/// Changes a store's files anywhere, and makes all checksums right again: what is changed is so not found out
/// by the first of them, and gets as deep as the decoders let it.
///
/// Written from the article on the format, as ``ForgedStore`` is, which it uses for segments and manifests.
package struct StoreForger {
  private let original: [String: [UInt8]]

  /// Takes the files of a sound store, by path.
  package init(_ files: [String: [UInt8]]) { original = files }

  /// The files unchanged, and their checksums made anew: as right as they were, if this works as it should.
  package var sealed: [String: [UInt8]] {
    var files = original
    var forged = ForgedStore(files)
    forged.seal()
    files.merge(forged.contents) { $1 }
    for (path, bytes) in files where path.hasSuffix(".pack") {
      var bytes = bytes
      Self.seal(trailerOf: &bytes)
      files[path] = bytes
    }
    return files
  }

  /// Files that were changed, with right checksums.
  package func forge(using random: inout SeededGenerator) -> [String: [UInt8]] {
    var files = original
    for _ in 0..<(random.oneIn(3) ? 2 : 1) {
      let kinds = [".seg", "/manifest.", ".ckpt", ".pack", ".blob"]
      let kind = kinds.randomElement(using: &random) ?? ""
      guard
        let path = files.keys.filter({ $0.contains(kind) }).sorted().randomElement(using: &random),
        var bytes = files[path]
      else { continue }
      switch kind {
      case ".ckpt": Self.forgeCheckpoint(&bytes, using: &random)
      case ".pack": Self.forgePack(&bytes, using: &random)
      case ".blob": Self.forgeBlob(&bytes, using: &random)
      default:
        var forged = ForgedStore(files)
        _ = forged.forge(using: &random)
        files.merge(forged.contents) { $1 }
        continue
      }
      files[path] = bytes
    }
    if random.oneIn(8), let path = files.keys.sorted().randomElement(using: &random) {
      // Length and presence, beside the bytes.
      let count = files[path]?.count ?? 0
      let end = Int.random(in: 0...count, using: &random)
      files[path] = random.oneIn(4) ? nil : files[path].map { Array($0.prefix(end)) }
    }
    if random.oneIn(6) { Self.forgeName(&files, using: &random) }
    return files
  }
}

// MARK: Names

extension StoreForger {
  private static let numbers: [UInt64] = [
    0, 1, 1 << 22 - 1, 1 << 22, 1 << 32 - 1, 1 << 32, 1 << 56, 1 << 61, 1 << 61 + 1, 1 << 62,
    1 << 62 + 1, 1 << 63, .max - 1, .max,
  ]

  /// Adds a file under a name with a number at some limit: empty, or what another one of its kind says, with that number
  /// in its header.
  private static func forgeName(
    _ files: inout [String: [UInt8]],
    using random: inout SeededGenerator
  ) {
    let names = files.keys.filter { path in
      [".seg", "/manifest.", ".ckpt", ".pack", ".blob"].contains { path.contains($0) }
    }
    guard let path = names.sorted().randomElement(using: &random), let bytes = files[path],
      let name = path.split(separator: "/").last,
      let digits = name.split(separator: ".").first(where: { $0.utf8.count == 16 })
    else { return }
    let number = numbers.randomElement(using: &random) ?? 0
    let hexadecimal = String(number, radix: 16)
    let forgedDigits = String(repeating: "0", count: 16 - hexadecimal.utf8.count) + hexadecimal
    let forgedName = name.replacing(digits, with: forgedDigits)
    let forgedPath = path.dropLast(name.count) + forgedName
    var forged = random.oneIn(3) ? [] : bytes
    if forged.count >= 4096 {
      forged.store(number, at: 48)
      forged.store(Checksum.of(forged[0..<4092]), at: 4092)
    }
    files[String(forgedPath)] = forged
    guard forgedName.hasPrefix("manifest.") else { return }
    var store = ForgedStore(files)
    store.seal()
    files.merge(store.contents) { $1 }
  }
}

// MARK: Checkpoints and blobs

extension StoreForger {
  private static func forgeCheckpoint(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
    guard bytes.count > 4096 else { return }
    let start = Int(clamping: bytes.number(UInt64.self, at: 72))
    guard 4096...bytes.count ~= start else { return }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: ByteMutation.poke(&bytes, in: 48..<92, using: &random)
    case 1: ByteMutation.poke(&bytes, in: 4096..<start, using: &random)
    default:
      var metadata = Array(bytes[start...])
      if random.oneIn(2) {
        ByteMutation.mutate(&metadata, using: &random)
      } else {
        ByteMutation.poke(&metadata, in: 0..<metadata.count, using: &random)
      }
      bytes.replaceSubrange(start..., with: metadata)
      bytes.store(UInt64(metadata.count), at: 80)
      bytes.store(Checksum.of(metadata[...]), at: 88)
    }
    bytes.store(Checksum.of(bytes[0..<4092]), at: 4092)
  }

  private static func forgeBlob(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
    guard bytes.count >= 64 else { return }
    ByteMutation.poke(&bytes, in: 0..<64, using: &random)
    bytes.store(Checksum.of(bytes[0..<60]), at: 60)
  }
}

// MARK: Packs

extension StoreForger {
  private static func forgePack(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
    guard bytes.count > 4096 + 64 else { return }
    let blocks = blocks(of: bytes)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: ByteMutation.poke(&bytes, in: 8..<72, using: &random)
    case 1: ByteMutation.poke(&bytes, in: (bytes.count - 64)..<(bytes.count - 4), using: &random)
    case 2...3: forgeFooter(&bytes, using: &random)
    default:
      if let block = blocks.randomElement(using: &random) { forge(block, &bytes, using: &random) }
    }
    bytes.store(Checksum.of(bytes[0..<4092]), at: 4092)
    seal(trailerOf: &bytes)
  }

  /// Changes a footer that is stored as it is.
  ///
  /// The manifest knows how long a pack is, so its length stays; a footer
  /// in LZ4 is left to the fuzzer of its decoder.
  private static func forgeFooter(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
    let end = bytes.count - 64
    let start = end - Int(bytes.number(UInt32.self, at: end + 16))
    guard 4096..<end ~= start, bytes[end + 52] == 0 else {
      return ByteMutation.poke(&bytes, in: end..<(end + 60), using: &random)
    }
    ByteMutation.poke(&bytes, in: start..<end, using: &random)
    let checksum = Checksum.of(bytes[start..<end])
    bytes.store(checksum, at: end + 24)
    bytes.store(checksum, at: end + 28)
  }

  /// Changes a block: its header, or the bytes of one of its chunks.
  private static func forge(
    _ block: Range<Int>,
    _ bytes: inout [UInt8],
    using random: inout SeededGenerator
  ) {
    let start = block.lowerBound
    let chunkCount = Int(bytes.number(UInt16.self, at: start + 20)) + 1
    let headerEnd = start + 40 + chunkCount * 20
    guard headerEnd <= block.upperBound else { return }
    let chunk = Int.random(in: 0..<chunkCount, using: &random)
    let entry = start + 40 + chunk * 20
    let from = chunk == 0 ? headerEnd : start + Int(bytes.number(UInt32.self, at: entry - 20))
    let to = start + Int(bytes.number(UInt32.self, at: entry))
    if random.oneIn(2), from < to, to <= block.upperBound {
      ByteMutation.poke(&bytes, in: from..<to, using: &random)
      bytes.store(Checksum.of(bytes[from..<to]), at: entry + 8)
      let raw = Int(bytes.number(UInt32.self, at: entry + 4))
      let isStored = bytes[entry + 17] == 0
      let unpacked = isStored ? Array(bytes[from..<to]) : PlainLZ4.unpack(bytes[from..<to], raw)
      if let unpacked { bytes.store(Checksum.of(unpacked[...]), at: entry + 12) }
    } else {
      ByteMutation.poke(&bytes, in: entry..<(entry + 20), using: &random)
      if random.oneIn(4) { ByteMutation.poke(&bytes, in: (start + 8)..<headerEnd, using: &random) }
    }
    let seed = Checksum.of(place(start, in: bytes)[...])
    bytes.store(Checksum.of(bytes[(start + 8)..<headerEnd], after: seed), at: start + 4)
  }

  private static func blocks(of bytes: [UInt8]) -> [Range<Int>] {
    var blocks: [Range<Int>] = []
    var at = 4096
    while at + 40 <= bytes.count, bytes.number(UInt32.self, at: at) == 0x314B_4250 {
      let end = at + Int(bytes.number(UInt32.self, at: at + 8))
      guard end > at + 40, end <= bytes.count else { break }
      blocks.append(at..<end)
      at = end
    }
    return blocks
  }

  private static func seal(trailerOf bytes: inout [UInt8]) {
    let at = bytes.count - 64
    let seed = Checksum.of(place(at, in: bytes)[...])
    bytes.store(Checksum.of(bytes[at..<(at + 60)], after: seed), at: at + 60)
  }

  /// What the checksums of a place in a file start from: store, number and salt, and the offset.
  private static func place(_ offset: Int, in bytes: [UInt8]) -> [UInt8] {
    Array(bytes[32..<64]) + withUnsafeBytes(of: UInt64(offset).littleEndian) { Array($0) }
  }
}

/// The LZ4 block format, read by the book.
enum PlainLZ4 {
  static func unpack(_ source: ArraySlice<UInt8>, _ count: Int) -> [UInt8]? {
    var result: [UInt8] = []
    var at = source.startIndex
    func length(_ nibble: UInt8, _ at: inout Int) -> Int? {
      var length = Int(nibble)
      guard nibble == 15 else { return length }
      while at < source.endIndex {
        let byte = source[at]
        at += 1
        length += Int(byte)
        if byte < 255 { return length }
      }
      return nil
    }
    while at < source.endIndex {
      let token = source[at]
      at += 1
      guard let literals = length(token >> 4, &at), at + literals <= source.endIndex,
        result.count + literals <= count
      else { return nil }
      result += source[at..<(at + literals)]
      at += literals
      if at == source.endIndex { break }
      guard at + 2 <= source.endIndex else { return nil }
      let distance = Int(source[at]) | Int(source[at + 1]) << 8
      at += 2
      guard let match = length(token & 15, &at), 1...max(1, result.count) ~= distance,
        distance <= result.count, result.count + match + 4 <= count
      else { return nil }
      for _ in 0..<(match + 4) { result.append(result[result.count - distance]) }
    }
    return result.count == count ? result : nil
  }
}

extension [UInt8] {
  func number<T: FixedWidthInteger>(_: T.Type, at offset: Int) -> T {
    (0..<(T.bitWidth / 8)).reduce(0) { $0 | T(truncatingIfNeeded: self[offset + $1]) << T($1 * 8) }
  }

  mutating func store<T: FixedWidthInteger>(_ value: T, at offset: Int) {
    for byte in 0..<(T.bitWidth / 8) {
      self[offset + byte] = UInt8(truncatingIfNeeded: value >> T(byte * 8))
    }
  }
}
