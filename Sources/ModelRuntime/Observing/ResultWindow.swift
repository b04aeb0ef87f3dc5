/// The known matches around those that a fetch with a limit or an offset shows.
///
/// The first matches are known, and some more than are shown: a model that leaves is replaced by the next one without
/// another fetch, until these are used up.
///
/// Invariant: every match that belongs before the last known one is known; if `isComplete`, every match is.
struct ResultWindow {
  /// The results that leave and enter the shown part.
  typealias Shift = (leaves: RankedResult?, enters: RankedResult?)

  private let offset: Int
  private let end: Int
  private let margin: Int
  private var known = ResultTree<RankedResult>()
  private var isComplete = false

  /// Makes a window of matches, or `nil` if the offset is so large that fetching again is better than knowing them.
  ///
  /// - Parameters:
  ///   - offset: The number of matches to skip.
  ///   - limit: The number of matches to show, or `nil` for all.
  init?(offset: Int, limit: Int?) {
    guard 0...ResultWindow.maximalOffset ~= offset, limit ?? 0 <= Int(Int32.max) else { return nil }
    self.offset = offset
    end = limit.map { offset + $0 } ?? .max
    margin = 8 + (limit ?? 0) / 2
  }

  /// Maximum number of skipped matches, which are kept in memory.
  private static var maximalOffset: Int { 4096 }

  /// The number of matches to fetch; `nil` for all.
  var wantedCount: Int? { end == .max ? nil : end + margin }

  /// Whether a fetch may find unknown matches to show.
  var needsMore: Bool { !isComplete && known.count < end }

  /// Begins with fetched results.
  ///
  /// - Returns: Those to show.
  mutating func begin(_ results: [RankedResult]) -> ArraySlice<RankedResult> {
    known = ResultTree(results)
    isComplete = results.count < wantedCount ?? .max
    return shown(of: results)
  }

  /// The shown part of matches from the first on.
  func shown<Match>(of matches: [Match]) -> ArraySlice<Match> {
    matches.dropFirst(offset).prefix(end == .max ? .max : end - offset)
  }

  /// Whether a place is after the known matches.
  func isBeyond(_ slot: ResultOrder.Slot, in order: ResultOrder) -> Bool {
    if isComplete { return false }
    return known.isEmpty || order.compare(known[known.count - 1].slot, slot) < 0
  }

  mutating func remove(_ slot: ResultOrder.Slot, in order: ResultOrder) -> Shift {
    let position = known.rank(of: slot, in: order)
    let result = known[position]
    known.remove(at: position)
    if position >= end { return (nil, nil) }
    let enters = known.count >= end ? known[end - 1] : nil
    if position >= offset { return (result, enters) }
    return (known.count >= offset ? known[offset - 1] : nil, enters)
  }

  mutating func insert(_ result: RankedResult, in order: ResultOrder) -> Shift {
    let position = known.rank(of: result.slot, in: order)
    known.insert(result, at: position)
    if position >= end { return (nil, nil) }
    let leaves = known.count > end ? known[end] : nil
    if position >= offset { return (leaves, result) }
    return (leaves, known.count > offset ? known[offset] : nil)
  }

  /// Forgets matches that are not shown, if there are many.
  ///
  /// - Returns: The forgotten matches.
  mutating func trim() -> [RankedResult] {
    guard end != .max, known.count > end + 2 * margin else { return [] }
    var forgotten: [RankedResult] = []
    while known.count > end + margin {
      forgotten.append(known[known.count - 1])
      known.remove(at: known.count - 1)
    }
    isComplete = false
    return forgotten
  }
}
