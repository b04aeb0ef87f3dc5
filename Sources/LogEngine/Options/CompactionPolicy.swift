import LogFormat

/// What a compaction is to take, decided from counters alone.
///
/// Segments are taken from the oldest on, without gaps: so a pack holds what the rows were at one place of
/// the log, and the log goes on from there. Packs are written again where that gains most: those with the
/// greatest dead part first, and no more of them than it takes to get back below the bound. A program that writes
/// all of them each time moves every live row for each third of a store that was overwritten.
package struct CompactionPolicy: Hashable, Sendable {
  /// If of all files more than this could be reclaimed, measured by what would be left, a compaction is due.
  package var totalDeadShare = 0.22
  /// It then takes packs until no more than this part of the bound is left.
  package var target = 0.9
  /// A pack of which so great a part is dead is taken along by every compaction.
  package var deadShare = 0.5
  /// Below this part a pack is left alone: more would be moved than reclaimed.
  package var leastDeadShare = 0.25
  /// So many segments are packed even if nothing in them is dead.
  package var segmentCount = 8
  /// So many small packs are made one.
  package var smallPackCount = 8
  /// As long as no more than this is dead, nothing is due: what it would gain is not worth a manifest.
  package var slackByteCount = 1 << 20
  /// The part of a store that the space may take which was made ready for commits; what goes beyond it is
  /// made up for by packing earlier.
  package var spareShare = 1.0 / 16
  /// Into how many packs a store is divided, as far as it is large enough.
  package var packCount = 16
  /// The bounds of a pack's size, in bytes of records.
  package var packByteCounts = (1 << 20)...(256 << 20)

  package init() {}

  /// A file as the policy sees it.
  package struct Candidate: Hashable, Sendable {
    package var id: SegmentID
    package var usage: SegmentUsage
    /// What it takes on the device.
    package var fileByteCount: Int

    package init(id: SegmentID, usage: SegmentUsage, fileByteCount: Int? = nil) {
      self.id = id
      self.usage = usage
      self.fileByteCount = fileByteCount ?? usage.recordByteCount
    }

    /// The dead part of its records; 0 if it has none, for then writing it again gains nothing.
    package var deadShare: Double {
      usage.recordByteCount == 0
        ? 0 : Double(usage.deadByteCount) / Double(usage.recordByteCount)
    }
  }

  /// What there is to choose from.
  package struct Situation: Hashable, Sendable {
    /// The segments that may be packed, oldest first.
    package var segments: [Candidate] = []
    /// All packs, oldest first.
    package var packs: [Candidate] = []
    /// The live bytes of the segments that may not be packed.
    package var otherLiveByteCount = 0
    /// The space that was made ready for commits.
    package var spareByteCount = 0

    package init() {}

    package var liveByteCount: Int {
      (segments + packs).reduce(otherLiveByteCount) { $0 + $1.usage.liveByteCount }
    }
    package var deadByteCount: Int { (segments + packs).reduce(0) { $0 + $1.usage.deadByteCount } }

    /// What a byte of records takes in a pack, as far as there are packs to tell.
    var packedShare: Double {
      let records = packs.reduce(0) { $0 + $1.usage.recordByteCount }
      let files = packs.reduce(0) { $0 + $1.fileByteCount }
      return records == 0 ? 1 : min(1, Double(files) / Double(records))
    }

    /// What all live bytes would take in packs.
    var packedByteCount: Double { Double(liveByteCount) * packedShare }

    /// By how much the files would become smaller.
    var reclaimableByteCount: Double {
      let files = (segments + packs).reduce(0) { $0 + $1.fileByteCount }
      return Double(files) - (packedByteCount - Double(otherLiveByteCount) * packedShare)
    }
  }

  /// What is to be taken.
  package struct Choice: Hashable, Sendable {
    /// How many segments, from the oldest on.
    package var segmentCount = 0
    package var packs: Set<SegmentID> = []

    package init(segmentCount: Int = 0, packs: Set<SegmentID> = []) {
      self.segmentCount = segmentCount
      self.packs = packs
    }

    package var isEmpty: Bool { segmentCount == 0 && packs.isEmpty }
  }

  /// Chooses what to take.
  ///
  /// - Parameters:
  ///   - situation: What there is.
  ///   - urgency: Whether to wait until it pays.
  /// - Returns: What to take; nothing, if nothing is due.
  package func choose(from situation: Situation, _ urgency: CompactionUrgency) -> Choice {
    guard urgency == .now || pressure(of: situation, urgency) >= 1 else { return Choice() }
    var choice = Choice(segmentCount: situation.segments.count)
    let share = situation.packedShare
    var dead = situation.packs.reduce(0) { $0 + Double($1.usage.deadByteCount) * share }
    let bound = deadBound(of: situation, urgency) * target
    for pack in situation.packs.sorted(by: { $0.deadShare > $1.deadShare }) {
      let isTaken =
        pack.deadShare >= deadShare
        || pack.deadShare >= leastDeadShare && (urgency == .now || dead > bound)
      guard isTaken else { break }
      choice.packs.insert(pack.id)
      dead -= Double(pack.usage.deadByteCount) * share
    }
    let limit = packByteCount(in: situation)
    let small = situation.packs.filter { $0.usage.liveByteCount < limit / 4 }
    if small.count >= smallPackCount { choice.packs.formUnion(small.map(\.id)) }
    return choice
  }

  /// How far things have come: at 1 a compaction is due, and beyond it is late.
  package func pressure(
    of situation: Situation,
    _ urgency: CompactionUrgency = .due
  ) -> Double {
    let bound = deadBound(of: situation, urgency)
    let isAtEase = urgency == .idle || urgency == .rest
    let count = Double(isAtEase ? (segmentCount + 1) / 2 : segmentCount)
    let rotten = situation.packs.filter { $0.deadShare >= deadShare }
      .reduce(0) { $0 + $1.usage.deadByteCount }
    return max(
      situation.reclaimableByteCount / bound,
      Double(situation.segments.count) / count,
      Double(rotten) / max(bound / 4, Double(slackByteCount), 1)
    )
  }

  /// How late a compaction is that goes as fast as it can: what it cannot reclaim, as it would move more
  /// than it gains, comes to about 1.
  package func lateness(of situation: Situation) -> Double {
    let bound = max(totalDeadShare * situation.packedByteCount, Double(4 * slackByteCount), 1)
    return situation.reclaimableByteCount / bound
  }

  /// How many bytes of files may be superfluous before a compaction is due.
  private func deadBound(of situation: Situation, _ urgency: CompactionUrgency) -> Double {
    let (share, slack) =
      switch urgency {
      case .due, .now: (totalDeadShare, slackByteCount)
      case .idle: (totalDeadShare / 2, slackByteCount)
      case .rest: (totalDeadShare / 4, slackByteCount / 2)
      }
    let packed = situation.packedByteCount
    let spare = max(0, Double(situation.spareByteCount) - spareShare * packed)
    return max(share * packed - spare, Double(slack), 1)
  }

  /// How many bytes of records a pack takes before the next one is begun.
  package func packByteCount(in situation: Situation) -> Int {
    let part = situation.liveByteCount / max(packCount, 1)
    return min(max(part, packByteCounts.lowerBound), packByteCounts.upperBound)
  }
}

/// How much a compaction takes.
package enum CompactionUrgency: Hashable, Sendable {
  /// What pays.
  case due
  /// What pays as nothing else is to be done.
  case idle
  /// What pays as nothing else is to be done, and is not to be expected either.
  case rest
  /// All that can be packed.
  case now
}
