/// Trips with notes of a kilobyte, each a function of its key alone, made so fast that making them is a small part of a load.
public struct WideTrips: Sendable {
  /// The average size of a record when written plainly, in bytes.
  public static let byteCount = 1080

  private static let baseCount: UInt64 = 4096
  private static let noteLengths = 940..<1060
  /// So long that notes of neighbours have next to nothing in common.
  private static let textByteCount = 2 << 20

  private let base: [TripRecord]
  private let text: [UInt8]

  public init() {
    base = TripGenerator().records(0..<Self.baseCount)
    let words = Vocabulary(count: 2048, syllables: 1...3, seed: 1)
    var random = SplitMix64(seed: 3)
    var text: [UInt8] = []
    text.reserveCapacity(Self.textByteCount + 32)
    while text.count < Self.textByteCount {
      text.append(contentsOf: words.draw(&random))
      text.append(0x20)
    }
    self.text = text
  }

  /// The record of a key.
  public func record(_ id: UInt64) -> TripRecord {
    var random = SplitMix64(seed: id)
    var record = base[Int(random.next() % Self.baseCount)]
    record.id = id
    record.name = "trip \(UInt64(1_000_000_000_000_000_000) + random.next() >> 6)"
    let length = Self.noteLengths.lowerBound + random.next(below: Self.noteLengths.count)
    let start = random.next(below: text.count - length)
    record.note = String(decoding: text[start..<start + length], as: UTF8.self)
    return record
  }

  /// The records of a range of keys.
  public func records(_ ids: Range<UInt64>) -> [TripRecord] { ids.map(record) }
}
