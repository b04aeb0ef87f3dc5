import Foundation
public import ModelRuntime

// The classes that random questions are about: every kind of attribute, indices and a unique value, both kinds of
// relationship, a subclass.

/// A part with a value of each kind.
enum Size: Int, Codable, CaseIterable, Sendable {
  case small = 1
  case medium = 2
  case large = 5
}

/// How bright something is.
enum Tone: String, Codable, CaseIterable, Sendable { case dark, light, odd }

/// A composite value.
struct Box: Codable, Hashable, Sendable {
  /// A field that is always there.
  var width: Int
  /// One that need not be.
  var label: String?
}

/// The class most questions are about.
@Model class Piece {
  #Unique<Piece>([\.serial])
  #Index<Piece>(
    [\.number],
    [\.name],
    [\.ratio],
    [\.name, \.number],
    [\.tone],
    [\.maybeNumber],
    [\.made],
    [\.note]
  )
  var serial: Int
  var number: Int = 0
  var small: Int8 = 0
  var middle: Int32 = 0
  var byte: UInt8 = 0
  var wide: UInt64 = 0
  var ratio: Double = 0
  var share: Float = 0
  var reading: Double = 0
  var flag: Bool = false
  var name: String = ""
  var made: Date = Date(timeIntervalSinceReferenceDate: 0)
  var token: UUID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  var payload: Data = Data()
  var link: URL = URL(fileURLWithPath: "/")
  var price: Decimal = Decimal(0)
  var size: Size = Size.small
  var tone: Tone = Tone.dark
  var box: Box = Box(width: 0, label: nil)
  var maybeNumber: Int?
  var maybeRatio: Double?
  var note: String?
  var maybeFlag: Bool?
  var seen: Date?
  var maybeToken: UUID?
  var maybeSize: Size?
  var maybeBox: Box?
  var maker: Maker?
  /// One that does not lead back, and may be gone.
  var former: Maker?
  var marks: [Mark] = []
  /// A list that is kept with its owner, and reads as empty where it is nil; some of its members may be gone.
  var spares: [Mark]?

  /// Makes a piece of default values.
  init(serial: Int) { self.serial = serial }

  /// Not stored: a predicate that reads it needs objects.
  var doubleSmall: Int { Int(small) * 2 }
}

/// A subclass.
@Model final class Gadget: Piece {
  var power: Int = 0

  /// Makes a gadget of default values.
  override init(serial: Int) { super.init(serial: serial) }
}

/// What a piece refers to.
@Model final class Maker {
  #Index<Maker>([\.rank])
  var serial: Int
  var name: String
  var rank: Int
  var country: String?
  var tone: Tone
  @Relationship(inverse: \Piece.maker) var pieces: [Piece] = []

  /// Makes a maker.
  init(serial: Int, name: String, rank: Int, country: String?, tone: Tone) {
    self.serial = serial
    self.name = name
    self.rank = rank
    self.country = country
    self.tone = tone
  }
}

/// What pieces have many of.
@Model final class Mark {
  var serial: Int
  var name: String
  var weight: Double
  @Relationship(inverse: \Piece.marks) var pieces: [Piece] = []

  /// Makes a mark.
  init(serial: Int, name: String, weight: Double) {
    self.serial = serial
    self.name = name
    self.weight = weight
  }
}

let differentialSchema = Schema([Piece.self, Gadget.self, Maker.self, Mark.self])

extension Differential {
  /// The models that the questions are about.
  public static var schema: Schema { differentialSchema }
}
