import Synchronization

// What an open store keeps true in memory, looked at in full: between the steps of random scripts and of the simulator.

extension StorageEngine {
  /// Says what does not hold of all that the open store keeps true; nothing, if all is well.
  ///
  /// Commits wait meanwhile; readers do not.
  ///
  /// - Throws: ``StorageError`` if a row cannot be read.
  /// - Complexity: O(keys).
  package func invariantViolations() throws -> [String] {
    guard let writer else { return [] }
    // Publishing is done under this lock.
    let published = writer.lead.withLock { _ in state.publicationViolations() }
    return try published + state.pinViolations() + state.tailViolations() + rowCountViolations()
  }

  /// Traps if something does not hold that the open store keeps true.
  ///
  /// - Throws: ``StorageError`` if a row cannot be read.
  package func checkInvariants() throws {
    let violations = try invariantViolations()
    precondition(violations.isEmpty, violations.joined(separator: "; "))
  }

  /// Row counts are those of the rows that are there, as long as nobody commits meanwhile.
  private func rowCountViolations() throws -> [String] {
    let before = state.visible.load(ordering: .acquiring)
    var counts: [(table: UInt16, said: Int, found: Int)] = []
    for definition in catalogue.tables {
      var found = 0
      try scan(definition.number) { _, _, _ in
        found += 1
        return .proceed
      }
      counts.append((definition.number, rowCount(of: definition.number), found))
    }
    guard state.visible.load(ordering: .acquiring) == before else { return [] }
    return counts.filter { $0.said != $0.found }.map {
      "table \($0.table) has \($0.found) rows, and is said to have \($0.said)"
    }
  }
}

extension StoreState {
  fileprivate func publicationViolations() -> [String] {
    let publication = publication.load(ordering: .acquiring)
    return publication.isMultiple(of: 2) ? [] : ["publication \(publication) was never ended"]
  }

  /// Nobody reads a commit that compaction has folded away, or one that is not visible.
  fileprivate func pinViolations() -> [String] {
    let floor = foldFloor.load(ordering: .acquiring)
    let visible = visible.load(ordering: .acquiring)
    var violations: [String] = []
    if let oldest = pins.oldest, oldest < floor {
      violations.append("commit \(oldest) is pinned, and those before \(floor) are folded")
    }
    if floor > visible { violations.append("commit \(floor) is folded, and \(visible) the newest") }
    return violations
  }

  /// What is visible was appended, what is durable was too, and no segment has less than nothing alive.
  fileprivate func tailViolations() -> [String] {
    tail.withLock { tail in
      var violations: [String] = []
      let visible = visible.load(ordering: .acquiring)
      if visible > tail.sequence {
        violations.append("commit \(visible) is visible, and \(tail.sequence) the last one")
      }
      let ends = [
        ("written", writtenEnd.load(ordering: .relaxed)),
        ("durable", durableEnd.load(ordering: .relaxed)),
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
