import LogEngine
import RowFormat

/// The files of a store as bytes that may be changed and then be given right checksums again.
///
/// Written from the article on the format and not from the engine's code: it seals what the engine
/// would never write.
package struct ForgedStore {
  private var files: [File]
  /// What the first segment says of the frame before it, which was packed; 0 if there was none.
  private let firstChain: UInt32

  fileprivate struct File {
    var path: String
    var bytes: [UInt8]
    /// Where the frames start, as they were before anything was changed.
    var frames: [Int] = []
    /// Where the records start.
    var records: [Int] = []
    var isSegment: Bool { path.hasSuffix(".seg") }
  }

  package init(_ disk: Disk) {
    files = disk.paths.compactMap { path -> File? in
      guard path.hasSuffix(".seg") || path.contains("/manifest."), let image = disk.image(of: path)
      else { return nil }
      var file = File(path: path, bytes: image.bytes(0..<image.size))
      file.findFrames()
      return file
    }
    firstChain = Self.firstChain(of: files)
  }

  private static func firstChain(of files: [File]) -> UInt32 {
    files.first { $0.isSegment && !$0.frames.isEmpty }?.bytes.number(UInt32.self, at: 104) ?? 0
  }

  /// Takes the segments and manifests of a store, by path.
  init(_ contents: [String: [UInt8]]) {
    files = contents.sorted { $0.key < $1.key }.compactMap { path, bytes -> File? in
      guard path.hasSuffix(".seg") || path.contains("/manifest."), bytes.count >= 4096 else {
        return nil
      }
      var file = File(path: path, bytes: bytes)
      file.findFrames()
      return file
    }
    firstChain = Self.firstChain(of: files)
  }

  /// The files, by path.
  var contents: [String: [UInt8]] {
    Dictionary(uniqueKeysWithValues: files.map { ($0.path, $0.bytes) })
  }

  /// Changes a field's worth of bytes somewhere, and makes all checksums right again.
  ///
  /// - Returns: What was changed.
  mutating func forge(using random: inout SeededGenerator) -> String {
    guard let index = files.indices.randomElement(using: &random) else { return "nothing" }
    if random.oneIn(8) { return forgeCounter(of: index, using: &random) }
    let place = files[index].randomPlace(using: &random)
    let width = [1, 1, 2, 4, 8].randomElement(using: &random) ?? 1
    let values: [UInt64] = [
      0, 1, 7, 8, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFF8, 1 << 38, 1 << 48,
      1 << 63, .max, random.next(),
    ]
    let value = values.randomElement(using: &random) ?? 0
    forge(files[index].path, at: place, value, byteCount: width)
    return "\(files[index].path), byte \(place), \(width) bytes of \(String(value, radix: 16))"
  }

  /// Makes a number that a store counts up one that no store comes to, or the last that is believed, and makes all
  /// checksums right again.
  private mutating func forgeCounter(
    of index: Int,
    using random: inout SeededGenerator
  ) -> String {
    let values: [UInt64] = [
      1 << 22 - 1, 1 << 22, 1 << 32 - 1, 1 << 61, 1 << 61 + 8, 1 << 62, 1 << 62 + 8, 1 << 63, .max,
    ]
    let value = values.randomElement(using: &random) ?? 0
    if files[index].isSegment {
      let place = [64, 72, 96].randomElement(using: &random) ?? 72
      forge(files[index].path, at: place, value, byteCount: 8)
      return "\(files[index].path), byte \(place), \(String(value, radix: 16))"
    }
    let number = Int.random(in: 0..<5, using: &random)
    files[index].replaceNumber(number, by: value)
    seal()
    return "\(files[index].path), number \(number), \(String(value, radix: 16))"
  }

  /// Changes bytes of a file, and makes all checksums right again.
  package mutating func forge(_ path: String, at place: Int, _ value: UInt64, byteCount: Int) {
    for index in files.indices where files[index].path == path {
      for byte in 0..<byteCount where place + byte < files[index].bytes.count {
        files[index].bytes[place + byte] = UInt8(truncatingIfNeeded: value >> UInt64(byte * 8))
      }
    }
    seal()
  }

  /// Where the frames of a file stand, in order.
  package func frames(of path: String) -> [Int] {
    files.first { $0.path == path }?.frames ?? []
  }

  /// Puts the files on a disk.
  package func write(to disk: inout Disk) {
    for file in files {
      disk.damage(file.path) { image in
        image.resize(0)
        image.write(file.bytes, at: 0)
      }
    }
  }

  /// Makes all checksums right.
  mutating func seal() {
    var chain = firstChain
    for index in files.indices {
      if !files[index].isSegment {
        files[index].seal(chain: 0)
      } else if !files[index].frames.isEmpty {
        files[index].bytes.store(chain, at: 104)
        chain = files[index].seal(chain: chain)
      }
    }
  }
}

extension ForgedStore.File {
  private static let magic: UInt32 = 0x314D_5246

  fileprivate mutating func findFrames() {
    var at = 4096
    while at + 40 <= bytes.count, bytes.load(UInt32.self, at: at) == Self.magic {
      frames.append(at)
      let end = at + 40 + Int(bytes.load(UInt32.self, at: at + 8))
      // The file may be cut off, or its length forged.
      if isSegment, 1...4 ~= bytes[at + 12], at + 48 <= end, end <= bytes.count {
        findRecords(at + 48, end)
      }
      at = end
    }
  }

  private mutating func findRecords(_ start: Int, _ frameEnd: Int) {
    let end = frameEnd - (Int(bytes[start - 1]) + 7) & ~7
    var at = start
    while at + 24 <= end {
      records.append(at)
      at += recordByteCount(at)
    }
  }

  private func bodyStart(_ record: Int) -> Int { 2...4 ~= bytes[record] ? 32 : 24 }

  private func recordByteCount(_ record: Int) -> Int {
    (bodyStart(record) + Int(bytes.load(UInt32.self, at: record + 4)) + 7) & ~7
  }

  /// A byte that means something.
  fileprivate func randomPlace(using random: inout SeededGenerator) -> Int {
    func inside(_ start: Int, _ count: Int) -> Int {
      min(bytes.count - 1, start + Int.random(in: 0..<count, using: &random))
    }
    guard let frame = frames.randomElement(using: &random) else { return inside(8, 112) }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return inside(8, 112)
    case 1: return inside(frame + 8, 32)
    case 2: return inside(frame + 40, 8)
    case 3...5:
      if let record = records.randomElement(using: &random) { return inside(record, 40) }
      fallthrough
    default: return inside(frame + 40, max(1, Int(bytes.load(UInt32.self, at: frame + 8))))
    }
  }

  /// Replaces one of the numbers with which a manifest begins: epoch, nextSegment, durableEnd, sequence, checkpoint.
  fileprivate mutating func replaceNumber(_ number: Int, by value: UInt64) {
    guard let frame = frames.first else { return }
    let end = frame + 40 + Int(bytes.load(UInt32.self, at: frame + 8))
    guard end <= bytes.count, end > frame + 41 else { return }
    var payload = Array(bytes[(frame + 40)..<end])
    var start = 1
    func varintEnd() -> Int {
      (payload[start...].firstIndex { $0 < 0x80 } ?? payload.count - 1) + 1
    }
    for _ in 0..<number { start = min(varintEnd(), payload.count - 1) }
    payload.replaceSubrange(start..<varintEnd(), with: ByteMutation.varint(value))
    payload += [UInt8](repeating: 0, count: -payload.count & 7)
    bytes.replaceSubrange((frame + 40)..<end, with: payload)
    bytes.store(UInt32(payload.count), at: frame + 8)
  }

  /// Makes the checksums right.
  ///
  /// - Returns: That of the last frame's header.
  @discardableResult
  fileprivate mutating func seal(chain: UInt32) -> UInt32 {
    bytes.store(Checksum.of(bytes[0..<4092]), at: 4092)
    for record in records {
      let end = record + bodyStart(record) + Int(bytes.load(UInt32.self, at: record + 4))
      guard end <= bytes.count else { continue }
      let head = Checksum.of(bytes[record..<(record + 20)])
      bytes.store(Checksum.of(bytes[(record + 24)..<end], after: head), at: record + 20)
    }
    var chain = chain
    for frame in frames {
      let end = frame + 40 + Int(bytes.load(UInt32.self, at: frame + 8))
      if end <= bytes.count {
        bytes.store(end == frame + 40 ? 0 : Checksum.of(bytes[(frame + 40)..<end]), at: frame + 32)
      }
      if isSegment { bytes.store(chain, at: frame + 36) }
      var place = Array(bytes[32..<64])
      place += withUnsafeBytes(of: UInt64(frame).littleEndian) { Array($0) }
      chain = Checksum.of(bytes[(frame + 8)..<(frame + 40)], after: Checksum.of(place[...]))
      bytes.store(chain, at: frame + 4)
    }
    return chain
  }
}

extension [UInt8] {
  fileprivate func load<T: FixedWidthInteger & BitwiseCopyable>(_: T.Type, at offset: Int) -> T {
    span.bytes.load(T.self, at: offset)
  }

  fileprivate mutating func store(_ value: UInt32, at offset: Int) {
    for byte in 0..<4 { self[offset + byte] = UInt8(truncatingIfNeeded: value >> UInt32(byte * 8)) }
  }
}

/// CRC-32C, a byte at a time.
enum Checksum {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { sum, _ in sum >> 1 ^ (sum & 1 == 0 ? 0 : 0x82F6_3B78) }
  }

  static func of(_ bytes: ArraySlice<UInt8>, after checksum: UInt32 = 0) -> UInt32 {
    let table = table
    return ~bytes.reduce(~checksum) { sum, byte in
      table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8
    }
  }
}
