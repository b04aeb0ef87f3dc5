import CLZ4Floor
import Glibc
public import Harness
import Workloads

/// The machine's own work on rows as plain bytes: copies them, compresses them, hands them to the kernel.
///
/// The upper bounds of whatever a store makes of them, measured on the same bytes in the same minutes.
public final class FloorBlocks {
  private let log: FloorLog
  private let rows: UnsafeMutableRawBufferPointer
  private let copy: UnsafeMutableRawBufferPointer
  private let compressed: UnsafeMutableRawBufferPointer
  /// The ranges of the blocks' compressed bytes.
  private var places: [Range<Int>] = []

  private static let blockByteCount = 64 << 10

  /// Writes ten thousand rows one after the other.
  ///
  /// - Parameter path: The path of a log; a new file.
  /// - Throws: ``SystemCallError``.
  public init(path: String) throws {
    log = try FloorLog(path: path)
    var coding = PlainCoding()
    var bytes: [UInt8] = []
    for record in TripGenerator().records(0..<10_000) {
      bytes.append(contentsOf: coding.encode(record))
    }
    rows = .allocate(byteCount: bytes.count, alignment: 64)
    rows.copyBytes(from: bytes)
    copy = .allocate(byteCount: bytes.count, alignment: 64)
    copy.copyBytes(from: bytes)
    let blocks = bytes.count / Self.blockByteCount + 1
    let bound = Int(LZ4_compressBound(CInt(Self.blockByteCount)))
    compressed = .allocate(byteCount: blocks * bound, alignment: 64)
    compress()
  }

  deinit {
    rows.deallocate()
    copy.deallocate()
    compressed.deallocate()
  }

  /// The entrants: `memcpy`, `pwrite`, and LZ4 both ways.
  public var entrants: [Entrant] {
    [
      entrant(.memcpy, "memcpy, blocks of 64 KiB") { self.copyBlocks() },
      entrant(.pwrite, "pwrite, blocks of 64 KiB into a file filled with zeros") {
        try self.writeBlocks()
      },
      entrant(.lz4Compress, "LZ4 \(Self.version), blocks of 64 KiB of rows") { self.compress() },
      entrant(.lz4Decompress, "LZ4 \(Self.version), blocks of 64 KiB of rows") {
        try self.decompress()
      },
    ]
  }

  private static var version: String { String(cString: LZ4_versionString()) }

  private func entrant(
    _ workload: Workload,
    _ settings: String,
    _ work: @escaping () throws -> Void
  ) -> Entrant {
    let megabytes = Double(rows.count) / 1e6
    return Entrant(workload, .floor, settings: settings) {
      let sample = try timeMilliseconds { for _ in 0..<8 { try work() } }
      let milliseconds = sample.figures[.milliseconds] ?? .nan
      return Sample([.megabytesPerSecond: 8 * megabytes * 1e3 / milliseconds])
    }
  }

  private var blocks: some Sequence<Range<Int>> {
    let count = rows.count
    return stride(from: 0, to: count, by: Self.blockByteCount).lazy.map {
      $0..<min($0 + Self.blockByteCount, count)
    }
  }

  private func copyBlocks() {
    guard let source = rows.baseAddress, let target = copy.baseAddress else { return }
    for block in blocks {
      memcpy(target + block.lowerBound, source + block.lowerBound, block.count)
    }
  }

  private func writeBlocks() throws {
    for block in blocks { try log.write(UnsafeRawBufferPointer(rebasing: rows[block])) }
  }

  private func compress() {
    places.removeAll(keepingCapacity: true)
    var end = 0
    for block in blocks {
      let source = rows.baseAddress.map { $0 + block.lowerBound }?.assumingMemoryBound(
        to: CChar.self
      )
      let target = compressed.baseAddress.map { $0 + end }?.assumingMemoryBound(to: CChar.self)
      let room = CInt(compressed.count - end)
      let count = Int(LZ4_compress_default(source, target, CInt(block.count), room))
      places.append(end..<end + count)
      end += count
    }
  }

  private func decompress() throws {
    for (block, place) in zip(blocks, places) {
      let source = compressed.baseAddress.map { $0 + place.lowerBound }
      let target = copy.baseAddress.map { $0 + block.lowerBound }
      let count = LZ4_decompress_safe(
        source?.assumingMemoryBound(to: CChar.self),
        target?.assumingMemoryBound(to: CChar.self),
        CInt(place.count),
        CInt(block.count)
      )
      try WrongAnswer.check(Int(count), is: block.count, .floor)
    }
  }
}
