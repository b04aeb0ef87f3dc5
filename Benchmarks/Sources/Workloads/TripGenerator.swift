/// Makes records whose content is a function of their key alone.
///
/// So a reader can check what it reads without keeping what was written, and all contenders store the
/// same bytes.
public struct TripGenerator: Sendable {
  private let words = Vocabulary(count: 2048, syllables: 1...3, seed: 1)
  private let places = Vocabulary(count: 256, syllables: 4...6, seed: 2)

  public init() {}

  /// The record of a key.
  public func record(_ id: UInt64) -> TripRecord {
    var random = SplitMix64(seed: id)
    let start = Double(random.next(below: 10_000_000)) * 60
    return TripRecord(
      id: id,
      name: makeName(&random),
      destination: String(decoding: places[random.next(below: 256)], as: UTF8.self),
      startDate: start,
      endDate: start + Double(1 + random.next(below: 30)) * 86_400,
      rating: Int64(1 + random.next(below: 5)),
      isFavorite: random.next(below: 8) == 0,
      note: makeNote(&random),
      tag: random.next(below: 2) == 0 ? "tag-\(100 + random.next(below: 900))" : nil
    )
  }

  /// The records of a range of keys.
  public func records(_ ids: Range<UInt64>) -> [TripRecord] { ids.map(record) }

  private func makeName(_ random: inout SplitMix64) -> String {
    var bytes = words.draw(&random) + [0x20] + words.draw(&random) + [0x20]
    let digits = UInt64(1_000_000_000_000) + random.next() % 9_000_000_000_000
    bytes.append(contentsOf: "\(digits)".utf8)
    return String(decoding: bytes, as: UTF8.self)
  }

  private func makeNote(_ random: inout SplitMix64) -> String {
    let length = 60 + random.next(below: 76)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length + 16)
    while bytes.count < length {
      if !bytes.isEmpty { bytes.append(0x20) }
      bytes.append(contentsOf: words.draw(&random))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
