import Foundation
import ModelRuntime

/// What a piece is, without any model: the oracle's.
struct PieceRecord: Sendable {
  let serial: Int
  /// The gadget's own value; `nil` if it is none.
  var power: Int?
  var number = 0
  var small: Int8 = 0
  var middle: Int32 = 0
  var byte: UInt8 = 0
  var wide: UInt64 = 0
  var ratio = 0.0
  var share: Float = 0
  var reading = 0.0
  var flag = false
  var name = ""
  var made = Date(timeIntervalSinceReferenceDate: 0)
  var token = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  var payload = Data()
  var link = URL(fileURLWithPath: "/")
  var price = Decimal(0)
  var size = Size.small
  var tone = Tone.dark
  var box = Box(width: 0, label: nil)
  var maybeNumber: Int?
  var maybeRatio: Double?
  var note: String?
  var maybeFlag: Bool?
  var seen: Date?
  var maybeToken: UUID?
  var maybeSize: Size?
  var maybeBox: Box?
  /// By serial number.
  var maker: Int?
  var former: Int?
  var marks: [Int] = []
  var spares: [Int] = []

  init(serial: Int, power: Int? = nil) {
    self.serial = serial
    self.power = power
  }
}

struct MakerRecord: Sendable {
  let serial: Int
  var name: String
  var rank: Int
  var country: String?
  var tone: Tone
}

struct MarkRecord: Sendable {
  let serial: Int
  var name: String
  var weight: Double
}

/// Everything there is, by serial number; what others name and is not here is gone.
struct World: Sendable {
  var pieces: [Int: PieceRecord] = [:]
  var makers: [Int: MakerRecord] = [:]
  var marks: [Int: MarkRecord] = [:]

  func maker(of piece: PieceRecord) -> MakerRecord? { piece.maker.flatMap { makers[$0] } }
  func former(of piece: PieceRecord) -> MakerRecord? { piece.former.flatMap { makers[$0] } }
  func marks(of piece: PieceRecord) -> [MarkRecord] { piece.marks.compactMap { marks[$0] } }
  func spares(of piece: PieceRecord) -> [MarkRecord] { piece.spares.compactMap { marks[$0] } }
  func pieces(of maker: MakerRecord) -> [PieceRecord] {
    pieces.values.filter { $0.maker == maker.serial }
  }
}

extension PieceRecord {
  /// Takes other values for all attributes, or for a few.
  mutating func fill(_ random: inout Chance, _ share: Int = 100) {
    func change(_ body: () -> Void) { if random.percent(share) { body() } }
    change { number = random.pick(Samples.integers) }
    change { small = random.pick(Samples.smalls) }
    change { middle = random.pick(Samples.middles) }
    change { byte = random.pick(Samples.bytes) }
    change { wide = random.pick(Samples.wides) }
    change { ratio = random.pick(Samples.ratios) }
    change { self.share = random.pick(Samples.shares) }
    change { reading = random.pick(Samples.readings) }
    change { flag = random.percent(50) }
    change { name = random.text() }
    change { made = random.pick(Samples.dates) }
    change { token = random.pick(Samples.tokens) }
    change { payload = random.pick(Samples.payloads) }
    change { link = random.pick(Samples.links) }
    change { price = random.pick(Samples.prices) }
    change { size = random.pick(Size.allCases) }
    change { tone = random.pick(Tone.allCases) }
    change { box = random.pick(Samples.boxes) }
    change { maybeNumber = random.pick(Samples.integers + [nil, nil, nil]) }
    change { maybeRatio = random.pick(Samples.readings + [nil, nil, nil]) }
    change { note = random.percent(15) ? nil : random.text() }
    change { maybeFlag = random.pick([true, false, nil]) }
    change { seen = random.pick(Samples.dates + [nil, nil]) }
    change { maybeToken = random.pick(Samples.tokens + [nil, nil]) }
    change { maybeSize = random.pick(Size.allCases + [nil]) }
    change { maybeBox = random.pick(Samples.boxes + [nil, nil]) }
    if power != nil { change { power = random.pick(Samples.integers) } }
  }

  /// Gives a model the attributes, those only that differ from what it has.
  ///
  /// - Returns: Whether there were any.
  @discardableResult
  func apply(to piece: Piece, from old: PieceRecord?) -> Bool {
    var isChanged = false
    func set<V: Equatable>(_ model: ReferenceWritableKeyPath<Piece, V>, _ record: KeyPath<Self, V>)
    {
      let value = self[keyPath: record]
      // Equal values may differ: 0 and -0, and texts of other scalars.
      if let old, old[keyPath: record] == value,
        "\(old[keyPath: record])".utf8.elementsEqual("\(value)".utf8)
      {
        return
      }
      piece[keyPath: model] = value
      isChanged = true
    }
    set(\.number, \.number)
    set(\.small, \.small)
    set(\.middle, \.middle)
    set(\.byte, \.byte)
    set(\.wide, \.wide)
    set(\.ratio, \.ratio)
    set(\.share, \.share)
    set(\.reading, \.reading)
    set(\.flag, \.flag)
    set(\.name, \.name)
    set(\.made, \.made)
    set(\.token, \.token)
    set(\.payload, \.payload)
    set(\.link, \.link)
    set(\.price, \.price)
    set(\.size, \.size)
    set(\.tone, \.tone)
    set(\.box, \.box)
    set(\.maybeNumber, \.maybeNumber)
    set(\.maybeRatio, \.maybeRatio)
    set(\.note, \.note)
    set(\.maybeFlag, \.maybeFlag)
    set(\.seen, \.seen)
    set(\.maybeToken, \.maybeToken)
    set(\.maybeSize, \.maybeSize)
    set(\.maybeBox, \.maybeBox)
    if let power, let gadget = piece as? Gadget, old?.power != power {
      gadget.power = power
      isChanged = true
    }
    return isChanged
  }
}

/// The values that records and constants are made of: few, so that they meet, and awkward.
enum Samples {
  static let integers = [0, 1, -1, 2, 3, 7, 100, -100, Int.max, Int.min, Int.max - 1]
  static let smalls: [Int8] = [0, 1, -1, 64, .max, .min]
  static let middles: [Int32] = [0, 1, -1, 70_000, .max, .min]
  static let bytes: [UInt8] = [0, 1, 127, 128, 255]
  static let wides: [UInt64] = [0, 1, 1 << 63, (1 << 63) - 1, .max, .max - 1]
  static let ratios = [0, -0.0, 1, 1.5, -2.25, 0.1, .infinity, -.infinity, 1e300]
  static let readings = ratios + [.nan]
  static let shares: [Float] = [0, 0.1, 0.2, 0.3, -1.5, .infinity, 16_777_216]
  static let dates = [0, 1, -1, 700_000_000, 700_000_000.5].map {
    Date(timeIntervalSinceReferenceDate: $0)
  }
  static let tokens = [0, 1, 127, 128, 255].map { (last: UInt8) in
    UUID(uuid: (last, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255 - last))
  }
  static let texts = [
    "", "a", "A", "b", "ab", "abc", "abcdefgh", "abcdefghi", "Zebra", "zebra", "z",
    "é", "e\u{301}", "É", "e", "caf\u{e9}", "cafe\u{301}", "cafe", "K", "\u{212A}", ";", "\u{37E}",
    "日本語", "👨‍👩‍👧", "👨", "a\r\nb", "a\nb", "\n", "\r\n", "x\u{327}\u{301}", "x\u{301}\u{327}",
  ]
  /// Ranges of assigned scalars: small ones, so that texts meet, with what combines, composes and sorts far from its
  /// code units.
  static let scalars: [ClosedRange<UInt32>] = [
    0x61...0x66, 0x41...0x46, 0x1...0x40, 0xC0...0x17F, 0x300...0x345, 0x3B1...0x3C9,
    0x1100...0x1112, 0x1161...0x1175, 0x11A8...0x11C2, 0xAC00...0xAC30, 0x1E00...0x1EFF,
    0x200B...0x200F, 0xE000...0xE004, 0xF900...0xF910, 0xFB00...0xFB06, 0xFE00...0xFE0F,
    0xFF01...0xFF10, 0x1D15E...0x1D164, 0x1F1E6...0x1F1EA, 0x1F3FB...0x1F3FF, 0x1F466...0x1F46A,
  ]
  static let links = ["https://a.example/x", "https://a.example/y?q=1", "file:///", "mailto:a@b.c"]
    .compactMap(URL.init(string:))
  static let payloads = [[], [0], [1, 2, 3], [255], [1, 2]].map { Data($0 as [UInt8]) }
  static let prices = ["0", "1", "-1", "0.1", "12345678901234567890.5"]
    .compactMap { Decimal(string: $0) }
  static let boxes = [
    Box(width: 0, label: nil), Box(width: 3, label: "a"), Box(width: .max, label: ""),
    Box(width: -1, label: "é"),
  ]
}

/// A generator that gives the same numbers for the same seed (SplitMix64).
struct Chance: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Starts at a seed.
  init(seed: UInt64) { state = seed &* 0xD6E8_FEB8_6659_FD93 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
  mutating func percent(_ share: Int) -> Bool { below(100) < share }
  mutating func pick<T>(_ values: [T]) -> T { values[below(values.count)] }

  /// A text: mostly one of the samples, sometimes any scalars.
  mutating func text() -> String {
    if percent(80) { return pick(Samples.texts) }
    var text = ""
    for _ in 0...below(4) { text.unicodeScalars.append(scalar()) }
    return text
  }

  private mutating func scalar() -> Unicode.Scalar {
    let range = pick(Samples.scalars)
    let value = range.lowerBound + UInt32(below(range.count))
    return Unicode.Scalar(value) ?? "?"
  }
}
