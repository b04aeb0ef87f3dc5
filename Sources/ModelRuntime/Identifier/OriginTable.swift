/// The origins of identifiers, by store and entity.
///
/// Origins of stores and schemas last. Any other is kept only as long as an identifier uses it, so that a client that sends
/// identifiers of models that do not exist fills no memory.
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
  /// Number of passing origins at which freed ones are removed.
  private var limit = OriginTable.smallestLimit

  private static let smallestLimit = 32

  /// Number of remembered pairs.
  var count: Int { lasting.count + passing.count }

  /// The origin of a pair, which lasts from now on.
  mutating func lasting(_ pair: Pair) -> IdentifierOrigin {
    if let known = lasting[pair] { return known }
    let origin = passing.removeValue(forKey: pair)?.origin ?? IdentifierOrigin(pair)
    origin.last()
    lasting[pair] = origin
    return origin
  }

  /// Returns the origin of a pair, which is freed with its last user unless it lasts already.
  mutating func origin(_ pair: Pair) -> IdentifierOrigin {
    if let known = lasting[pair] ?? passing[pair]?.origin { return known }
    let origin = IdentifierOrigin(pair)
    passing[pair] = Passing(origin: origin)
    if passing.count > limit { forgetGone() }
    return origin
  }

  /// Removes pairs with freed origins; runs once per as many additions as pairs were left, which bounds its cost per addition.
  private mutating func forgetGone() {
    passing = passing.filter { $0.value.origin != nil }
    limit = max(Self.smallestLimit, passing.count * 2)
  }
}
