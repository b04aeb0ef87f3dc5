import Locking
import Synchronization

// The invariants of an open store in memory, checked in full: between the steps of random scripts and of the simulator.

extension StoreState {
  func publicationViolations() -> [String] {
    let publication = visibility.publication.load(ordering: .acquiring)
    return publication.isMultiple(of: 2) ? [] : ["publication \(publication) was never ended"]
  }

  /// Checks that no view reads a commit that compaction has folded away, or one that is not visible.
  func pinViolations() -> [String] {
    let mark = visibility.lowWaterMark.load(ordering: .acquiring)
    let visible = visibility.visible.load(ordering: .acquiring)
    var violations: [String] = []
    if let oldest = visibility.pins.oldest, oldest < mark {
      violations.append("commit \(oldest) is pinned, and those before \(mark) are folded")
    }
    if mark > visible { violations.append("commit \(mark) is folded, and \(visible) the newest") }
    return violations
  }

  /// Checks that visible and durable commits were appended, and that no segment has a negative live size.
  func tailViolations() -> [String] {
    log.tail.withLock { tail in
      var violations: [String] = []
      let visible = visibility.visible.load(ordering: .acquiring)
      if visible > tail.sequence {
        violations.append("commit \(visible) is visible, and \(tail.sequence) the last one")
      }
      let ends = [
        ("written", log.writtenEnd.load(ordering: .relaxed)),
        ("durable", log.durableEnd.load(ordering: .relaxed)),
      ]
      for (name, end) in ends {
        if end > tail.logEnd {
          violations.append("the log is \(name) up to \(end), and ends at \(tail.logEnd)")
        }
      }
      for entry in tail.usages.entries
      where !(0...entry.usage.recordByteCount ~= entry.usage.liveByteCount) {
        violations.append(
          "\(entry.usage.liveByteCount) of \(entry.usage.recordByteCount) bytes of table "
            + "\(entry.table) are alive in segment \(entry.segment)"
        )
      }
      return violations
    }
  }
}
