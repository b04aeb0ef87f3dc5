public import Foundation

/// Values of 1 KiB to 4 MiB, as many of each order of magnitude, whose content is a function of their number
/// and version alone and cannot be compressed.
public struct LargeValues: Sendable {
  private let pool: Data

  public init() {
    var random = SplitMix64(seed: 3)
    let words = (0..<1 << 20).map { _ in random.next() }
    pool = words.withUnsafeBytes { Data($0) }
  }

  /// Number of bytes of a value.
  public func byteCount(_ number: Int, version: Int) -> Int { place(number, version).count }

  /// A value, in memory of its own.
  public func value(_ number: Int, version: Int) -> Data { Data(pool[place(number, version)]) }

  /// Whether some bytes are a value.
  public func isValue(_ bytes: Data, _ number: Int, version: Int) -> Bool {
    bytes == pool[place(number, version)]
  }

  private func place(_ number: Int, _ version: Int) -> Range<Int> {
    var random = SplitMix64(seed: UInt64(number * 16 + version))
    let count = Int(1024 * pow(4096, random.nextUnit()))
    let start = random.next(below: pool.count - count)
    return start..<start + count
  }
}
