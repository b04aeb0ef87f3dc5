import LogFormat

/// The compaction picker: chooses the files that a compaction takes, from counters alone.
///
/// It takes segments from the oldest on, without gaps: so the packs hold the rows as of one position in the log, and the log
/// continues from there. It rewrites packs where that gains most: those with the greatest dead share first, and only as many as
/// needed to get back below the bound. Rewriting all packs each time would move every live row for each third of a store that
/// is overwritten.
package struct CompactionPolicy: Hashable, Sendable {
  /// A compaction is due when more than this share could be reclaimed, relative to the size of all live rows in the log.
  ///
  /// It is not relative to their size in packs: the better rows pack, the more often each would be packed again to reclaim the
  /// same number of dead ones. If there is no other work, half and a fourth of the share count, relative to the size that would
  /// be left.
  package var totalDeadShare = 0.22
  /// It then takes packs until the reclaimable rest is below this share of the bound.
  package var target = 0.9
  /// A compaction takes packs whose dead share is at least this, whether or not it is below its bound.
  package var deadShare = 0.5
  /// Packs with a smaller dead share are left alone: a rewrite would move more than it reclaims.
  package var leastDeadShare = 0.25
  /// The share of the live rows that a compaction beside commits takes from segments, and from packs.
  package var liveShare = 0.125
  /// The number of sealed segments at which a compaction is due even if nothing in them is dead.
  package var segmentCount = 8
  /// The number of small packs that are merged into one.
  package var smallPackCount = 8
  /// With fewer dead bytes than this nothing is due: the gain is not worth a manifest.
  package var slackByteCount = 1 << 20
  /// The share of a store that preallocated space may take; anything beyond it makes compaction due earlier.
  package var spareShare = 1.0 / 16
  /// The number of packs that a large enough store is divided into.
  package var packCount = 16
  /// The bounds of a pack's size, in bytes of records.
  package var packByteCounts = (1 << 20)...(256 << 20)

  package init() {}

  /// A file that a compaction may take.
  package struct Candidate: Hashable, Sendable {
    package var id: SegmentID
    package var usage: SegmentUsage
    /// The space that the file occupies on the device, in bytes.
    package var fileByteCount: Int

    package init(id: SegmentID, usage: SegmentUsage, fileByteCount: Int? = nil) {
      self.id = id
      self.usage = usage
      self.fileByteCount = fileByteCount ?? usage.recordByteCount
    }

    /// The dead share of its records; 0 for a file without records, since rewriting it gains nothing.
    package var deadShare: Double {
      usage.recordByteCount == 0
        ? 0 : Double(usage.deadByteCount) / Double(usage.recordByteCount)
    }
  }

  /// The files to choose from.
  package struct PickerInput: Hashable, Sendable {
    /// The segments that may be packed, oldest first.
    package var segments: [Candidate] = []
    /// All packs, oldest first.
    package var packs: [Candidate] = []
    /// The live bytes of the segments that cannot be packed yet.
    package var otherLiveByteCount = 0
    /// The space preallocated for commits.
    package var spareByteCount = 0

    package init() {}

    package var liveByteCount: Int {
      (segments + packs).reduce(otherLiveByteCount) { $0 + $1.usage.liveByteCount }
    }
    package var deadByteCount: Int { (segments + packs).reduce(0) { $0 + $1.usage.deadByteCount } }

    /// The bytes that a byte of records takes in a pack, as measured by the existing packs; 1 without packs.
    var packedShare: Double {
      let records = packs.reduce(0) { $0 + $1.usage.recordByteCount }
      let files = packs.reduce(0) { $0 + $1.fileByteCount }
      return records == 0 ? 1 : min(1, Double(files) / Double(records))
    }

    /// The bytes that all live records would take in packs.
    var packedByteCount: Double { Double(liveByteCount) * packedShare }

    /// The bytes that dead records take in the files.
    var deadFileByteCount: Double {
      let share = packedShare
      return packs.reduce(segments.reduce(0) { $0 + Double($1.usage.deadByteCount) }) {
        $0 + Double($1.usage.deadByteCount) * share
      }
    }

    /// The bytes by which a full compaction would shrink the files.
    var reclaimableByteCount: Double {
      let files = (segments + packs).reduce(0) { $0 + $1.fileByteCount }
      return Double(files) - (packedByteCount - Double(otherLiveByteCount) * packedShare)
    }
  }

  /// The files to take.
  package struct Choice: Hashable, Sendable {
    /// The number of segments, from the oldest on.
    package var segmentCount = 0
    package var packs: Set<SegmentID> = []

    package init(segmentCount: Int = 0, packs: Set<SegmentID> = []) {
      self.segmentCount = segmentCount
      self.packs = packs
    }

    package var isEmpty: Bool { segmentCount == 0 && packs.isEmpty }
    package var fileCount: Int { segmentCount + packs.count }
  }

  /// Chooses the files to take.
  ///
  /// - Parameters:
  ///   - input: The files to choose from.
  ///   - urgency: The gain that makes a compaction due.
  /// - Returns: The files to take; an empty choice if no compaction is due.
  package func choose(from input: PickerInput, _ urgency: CompactionUrgency) -> Choice {
    guard urgency == .now || pressure(of: input, urgency) >= 1 else { return Choice() }
    let limit = urgency == .due ? liveLimit(in: input) : nil
    var choice = Choice(segmentCount: count(of: input.segments, upTo: limit))
    let share = input.packedShare
    var dead = input.packs.reduce(0) { $0 + Double($1.usage.deadByteCount) * share }
    let bound = deadBound(of: input, urgency) * target
    var taken = 0
    for pack in input.packs.sorted(by: { $0.deadShare > $1.deadShare }) {
      let isTaken =
        pack.deadShare >= deadShare
        || pack.deadShare >= leastDeadShare && (urgency == .now || dead > bound)
      guard isTaken, taken < limit ?? .max else { break }
      choice.packs.insert(pack.id)
      taken += pack.usage.liveByteCount
      dead -= Double(pack.usage.deadByteCount) * share
    }
    let smallest = packByteCount(in: input) / 4
    let small = input.packs.filter { $0.usage.liveByteCount < smallest }
    if small.count >= smallPackCount { choice.packs.formUnion(small.map(\.id)) }
    return choice
  }

  /// Shortens a choice to a number of files, for a device without room for the output of all: the oldest segments come first,
  /// then the packs with the greatest dead share.
  ///
  /// Packs that are only to be merged with others are left out: rewriting one by itself would gain nothing.
  package func limit(_ choice: Choice, to fileCount: Int, of input: PickerInput) -> Choice {
    if choice.fileCount <= fileCount { return choice }
    let segmentCount = min(choice.segmentCount, fileCount)
    let packs = input.packs
      .filter { choice.packs.contains($0.id) && $0.deadShare >= leastDeadShare }
      .sorted { $0.deadShare > $1.deadShare }
      .prefix(fileCount - segmentCount)
    return Choice(segmentCount: segmentCount, packs: Set(packs.map(\.id)))
  }

  /// Returns the pressure to compact: at 1 a compaction is due, above 1 it is behind.
  package func pressure(
    of input: PickerInput,
    _ urgency: CompactionUrgency = .due
  ) -> Double {
    let bound = deadBound(of: input, urgency)
    let isUnhurried = urgency == .idle || urgency == .quiescent
    let count = Double(isUnhurried ? (segmentCount + 1) / 2 : segmentCount)
    let rotten = input.packs.filter { $0.deadShare >= deadShare }
      .reduce(0) { $0 + $1.usage.deadByteCount }
    return max(
      input.reclaimableByteCount / bound,
      Double(input.segments.count) / count,
      Double(rotten) / max(bound / 4, Double(slackByteCount), 1)
    )
  }

  /// Returns the back-pressure on commits: the backlog of a compaction at full speed.
  ///
  /// Only dead rows count. Live rows waiting to be packed do not: however many come, the store takes no more than a constant
  /// multiple of its final size, so an import need not wait for its own packing. Files that compaction leaves alone, because
  /// rewriting them would move more than it gains, amount to about 1.
  package func backPressure(of input: PickerInput) -> Double {
    let live = Double(input.liveByteCount)
    let bound = max(totalDeadShare * live, Double(4 * slackByteCount), 1)
    return input.deadFileByteCount / bound
  }

  /// Returns the reclaimable bytes at which a compaction is due.
  private func deadBound(of input: PickerInput, _ urgency: CompactionUrgency) -> Double {
    let (bound, slack) =
      switch urgency {
      case .due, .now: (totalDeadShare * Double(input.liveByteCount), slackByteCount)
      case .idle: (totalDeadShare / 2 * input.packedByteCount, slackByteCount)
      case .quiescent: (totalDeadShare / 4 * input.packedByteCount, slackByteCount / 2)
      }
    let spare = max(0, Double(input.spareByteCount) - spareShare * input.packedByteCount)
    return max(bound - spare, Double(slack), 1)
  }

  /// Limit, in bytes, of the live rows that a compaction beside commits takes from segments, and as many from packs; each may
  /// exceed it by one file.
  ///
  /// Its gain is available only at its end, and the log grows meanwhile: several short ones keep a store under constant load
  /// smaller than one long one, and each takes the packs that are most dead by then.
  private func liveLimit(in input: PickerInput) -> Int {
    max(Int(liveShare * Double(input.liveByteCount)), 4 * packByteCounts.lowerBound)
  }

  /// Returns the number of files, from the first on, with that many bytes of live rows; all of them without a limit.
  private func count(of files: [Candidate], upTo limit: Int?) -> Int {
    var byteCount = 0
    for (index, file) in files.enumerated() {
      guard byteCount < limit ?? .max else { return index }
      byteCount += file.usage.liveByteCount
    }
    return files.count
  }

  /// Returns the size at which a compaction starts the next pack, in bytes of records.
  package func packByteCount(in input: PickerInput) -> Int {
    let part = input.liveByteCount / max(packCount, 1)
    return min(max(part, packByteCounts.lowerBound), packByteCounts.upperBound)
  }
}

/// The gain that makes a compaction due.
package enum CompactionUrgency: Hashable, Sendable {
  /// Its gain must be worth the work beside a busy store.
  case due
  /// A smaller gain is enough, since there is no other work.
  case idle
  /// The smallest gain is enough, since no commit is expected either.
  case quiescent
  /// Every gain is enough: it takes everything that can be packed.
  case now
}
