/// The origins of identifiers, by store and entity.
///
/// Those of stores and schemas last. Any other is remembered as long as an identifier has it, so that a client who sends
/// identifiers of what does not exist fills no memory.
struct OriginTable {
  struct Pair: Hashable {
    let store: String?
    let entity: String
  }

  private struct Passing {
    weak var origin: IdentifierOrigin?
  }

  private var lasting: [Pair: IdentifierOrigin] = [:]
  private var passing: [Pair: Passing] = [:]
  /// With how many passing ones those are forgotten that have gone.
  private var limit = OriginTable.smallestLimit

  private static let smallestLimit = 32

  /// How many pairs are remembered.
  var count: Int { lasting.count + passing.count }

  /// The origin of a pair, which lasts from now on.
  mutating func lasting(_ pair: Pair) -> IdentifierOrigin {
    if let known = lasting[pair] { return known }
    let origin = passing.removeValue(forKey: pair)?.origin ?? IdentifierOrigin(pair)
    origin.last()
    lasting[pair] = origin
    return origin
  }

  /// The origin of a pair, which goes with the last one who has it, unless it lasts already.
  mutating func origin(_ pair: Pair) -> IdentifierOrigin {
    if let known = lasting[pair] ?? passing[pair]?.origin { return known }
    let origin = IdentifierOrigin(pair)
    passing[pair] = Passing(origin: origin)
    if passing.count > limit { forgetGone() }
    return origin
  }

  /// Forgets the pairs whose origins have gone; once for as many new ones as there were left, so that one costs little.
  private mutating func forgetGone() {
    passing = passing.filter { $0.value.origin != nil }
    limit = max(Self.smallestLimit, passing.count * 2)
  }
}
