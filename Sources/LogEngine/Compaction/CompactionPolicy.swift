/// What a compaction is to take, decided from counters alone.
///
/// Segments are taken from the oldest on, without gaps: so a pack holds what the rows were at one place of
/// the log, and the log goes on from there. A pack is written again when too many of its rows are dead.
struct CompactionPolicy: Hashable, Sendable {
  /// A file of which so great a part is dead is rewritten.
  var deadShare = 0.5
  /// If of all files this much is dead, measured by what is live, more is taken at once.
  var totalDeadShare = 0.35
  /// Below this part a pack is left alone whatever else is done.
  var leastDeadShare = 0.25
  /// So many segments are packed even if nothing in them is dead.
  var segmentCount = 8
  /// With so many packs, small ones are taken along.
  var packCount = 8

  /// A file as the policy sees it.
  struct Candidate: Hashable, Sendable {
    var id: SegmentID
    var usage: SegmentUsage

    var deadShare: Double {
      usage.recordByteCount == 0
        ? 1 : Double(usage.deadByteCount) / Double(usage.recordByteCount)
    }
  }

  /// What is to be taken.
  struct Choice: Hashable, Sendable {
    /// How many segments, from the oldest on.
    var segmentCount = 0
    var packs: Set<SegmentID> = []

    var isEmpty: Bool { segmentCount == 0 && packs.isEmpty }
  }

  /// Chooses what is due.
  ///
  /// - Parameters:
  ///   - segments: Those that may be packed, oldest first.
  ///   - packs: All of them, oldest first.
  ///   - urgency: Whether to wait until it pays.
  /// - Returns: What to take; nothing, if nothing is due.
  func choose(
    segments: [Candidate],
    packs: [Candidate],
    _ urgency: CompactionUrgency
  ) -> Choice {
    var choice = Choice()
    let all = segments + packs
    let dead = all.reduce(0) { $0 + $1.usage.deadByteCount }
    let live = all.reduce(0) { $0 + $1.usage.liveByteCount }
    let isWasteful = Double(dead) > totalDeadShare * Double(live)
    if urgency == .now || isWasteful || segments.count >= segmentCount {
      choice.segmentCount = segments.count
    } else if let last = segments.lastIndex(where: { $0.deadShare >= deadShare }) {
      choice.segmentCount = last + 1
    }
    let limit = isWasteful ? leastDeadShare : deadShare
    for pack in packs where pack.deadShare >= limit { choice.packs.insert(pack.id) }
    if packs.count >= packCount { addSmallPacks(packs, segments, to: &choice) }
    return choice
  }

  /// Takes the newest packs along, as long as each is no greater than what is taken already.
  private func addSmallPacks(
    _ packs: [Candidate],
    _ segments: [Candidate],
    to choice: inout Choice
  ) {
    var size = segments.prefix(choice.segmentCount).reduce(0) { $0 + $1.usage.liveByteCount }
    for pack in packs.reversed() {
      guard pack.usage.liveByteCount <= size else { return }
      size += pack.usage.liveByteCount
      choice.packs.insert(pack.id)
    }
  }
}

/// How much a compaction takes.
enum CompactionUrgency: Hashable, Sendable {
  /// What pays.
  case due
  /// All that can be packed.
  case now
}
