import Locking
import LogFormat
import RowFormat
import Synchronization

/// Following a writer that compacts its log.
///
/// Files that are open stay readable after they were removed. So a follower continues with the segments it has, and adopts a
/// compaction when possible:
///
/// 1. A record that builds on a row of an unknown pack was appended after the manifest that names the pack. That manifest is
///    read, and its packs are opened.
/// 2. An older view would see the pack's rows as if they had always existed. So the record is read once no view reads a commit
///    older than the visible one.
/// 3. The packs replace the files they were made from once all commits that the compaction covered are visible. Until then
///    removed files are kept open.
/// 4. A follower that has not opened segments before they were packed cannot continue, and throws.
extension Follower {
  /// Checks whether the writer has compacted, and opens the new packs.
  func findBase(_ position: inout Position) throws(StorageError) {
    let files = ManifestFiles(
      paths: state.paths,
      fileSystem: state.fileSystem,
      synchronizes: false
    )
    guard let newest = try files.numbers().last, newest > position.manifest,
      var manifest = try files.readNewest()
    else { return }
    while true {
      do throws(StorageError) {
        try openPacks(of: manifest)
        break
      } catch .missingFile(let path) {
        // A pack is removed when a later manifest no longer names it.
        guard let next = try files.readNewest(), next.number > manifest.number else {
          throw .missingFile(path: path)
        }
        manifest = next
      }
    }
    position.manifest = manifest.number
    if manifest.base != state.files.base.withLock({ $0 }) { position.newBase = manifest.base }
  }

  private func openPacks(of manifest: Manifest) throws(StorageError) {
    for id in (manifest.base?.packs ?? []).map(\.id)
    where state.files.packs[Int(id.rawValue)] == nil {
      state.files.packs.store(try state.openPack(state.paths.pack(id), id), at: Int(id.rawValue))
    }
  }

  /// Ensures that the rows that a frame's records build on can be read.
  ///
  /// - Throws: ``MustWaitForReader`` if a reader still needs rows that would be left out.
  func preparePacks(for payload: RawSpan, _ position: inout Position) throws {
    for pack in Replay.packs(namedIn: payload) where !isKnown(pack, position) {
      if state.files.packs[Int(pack.rawValue)] == nil { try findBase(&position) }
      if try takeUpBase(&position), isKnown(pack, position) { continue }
      let visible = state.visibility.visible.load(ordering: .relaxed)
      if state.files.packs[Int(pack.rawValue)] != nil {
        guard state.files.epochs.drain(), raiseLowWaterMark(to: visible) else {
          throw MustWaitForReader()
        }
        position.admittedPack = max(position.admittedPack, pack)
      } else if let base = position.newBase {
        // The pack was created and removed since the last look.
        if visible >= base.lowWaterMark { throw MustWaitForReader() }
        throw StorageError.commitGone(
          CommitSequence(visible + 1),
          oldest: CommitSequence(base.lowWaterMark)
        )
      } else {
        throw StorageError.missingFile(path: state.paths.pack(PackID(rawValue: pack.rawValue)))
      }
    }
  }

  /// Whether records that name a pack can be read by now.
  private func isKnown(_ pack: SegmentID, _ position: Position) -> Bool {
    let isOpen = state.files.packs[Int(pack.rawValue)] != nil
    return isOpen && pack <= position.admittedPack
      || pack.rawValue <= state.files.packList.withLock { $0.last?.id.rawValue ?? 0 }
  }

  /// Throws if segments were packed before they could be read.
  func checkIsNotLeftBehind(_ position: inout Position) throws(StorageError) {
    try findBase(&position)
    guard let base = position.newBase ?? state.files.base.withLock({ $0 }) else { return }
    let end = position.end
    guard base.segment > end.segment?.id ?? .none, base.sequence > end.sequence else { return }
    throw .commitGone(CommitSequence(end.sequence + 1), oldest: CommitSequence(base.lowWaterMark))
  }
}

// MARK: Adopting a compaction

extension Follower {
  /// Replaces the taken files by the new packs, if no reader needs the files any more.
  ///
  /// - Returns: Whether they were replaced.
  func takeUpBase(_ position: inout Position) throws -> Bool {
    // Readers without a view may still be about to look for a row that was left out.
    guard let base = position.newBase,
      state.visibility.visible.load(ordering: .relaxed) >= base.lowWaterMark,
      state.files.epochs.drain(), raiseLowWaterMark(to: base.lowWaterMark)
    else { return false }
    position.newBase = nil
    let packs = base.packs.compactMap { state.files.packs[Int($0.id.rawValue)] }
    let known = state.files.packList.withLock { $0.map(\.id) }
    // If records build on a pack that was not adopted yet, nothing leads any more to the rows that it replaced.
    let isCountedAnew = position.admittedPack.rawValue > known.last?.rawValue ?? 0
    let staying = isCountedAnew ? [] : Set(known).intersection(packs.map(\.id))
    let new = packs.filter { !staying.contains($0.id) }
    // Done while the files that the new packs were made from can still be read.
    let replaced = try replacedRows(by: new, amongThoseOf: staying)
    let retired = state.files.exchange { retire(for: base, packs) }
    try moveSlots(to: new, &position.replay.usages)
    position.replay.usages.release(replaced)
    releaseRemovedTables(of: new, &position.replay.usages)
    publishUsage(position)
    state.files.compactionCount.add(1, ordering: .relaxed)
    state.files.epochs.retire(retired)
    return true
  }

  /// Raises the low-water mark, or fails if an older snapshot was pinned in the meantime.
  private func raiseLowWaterMark(to mark: UInt64) -> Bool {
    let before = state.visibility.lowWaterMark.load(ordering: .relaxed)
    guard before < mark else { return true }
    state.visibility.lowWaterMark.store(mark, ordering: .sequentiallyConsistent)
    if state.visibility.pins.oldest(upTo: mark) >= mark { return true }
    state.visibility.lowWaterMark.store(before, ordering: .sequentiallyConsistent)
    return false
  }

  private func retire(
    for base: LogBase,
    _ packs: [PackReader]
  ) -> [any AnyObject & Sendable] {
    let names = Set(packs.map(\.id.rawValue))
    // A reader that finds a retired place must find the pack that replaced it.
    state.files.packList.withLock { list in
      list = (list.filter { !names.contains($0.id.rawValue) } + packs).sorted { $0.id < $1.id }
    }
    state.files.base.withLock { $0 = base }
    state.files.baseSegment.store(base.segment.rawValue, ordering: .sequentiallyConsistent)
    var retired: [any AnyObject & Sendable] = []
    for index in state.files.segments.indices where index <= Int(base.segment.rawValue) {
      retired += state.files.segments.remove(at: index) { Int($0.id.rawValue) == index }
    }
    for index in state.files.packs.indices where !names.contains(UInt32(index)) {
      retired += state.files.packs.remove(at: index) { Int($0.id.rawValue) == index }
    }
    state.files.packList.withLock { $0 = packs }
    return retired
  }

  /// Returns the rows of the staying packs that nothing builds on any more, now that packs have replaced the log.
  ///
  /// A row with only some attributes changed was partly in the log; a new pack has all of it.
  private func replacedRows(
    by new: [PackReader],
    amongThoseOf staying: Set<PackID>
  ) throws -> SupersededBytes {
    var replaced = SupersededBytes()
    if staying.isEmpty { return replaced }
    let staying = Set(staying.map { SegmentID(rawValue: $0.rawValue) })
    for pack in new {
      try pack.forEachAddress { reference, _ in
        guard let table = state.tables[Int(reference.table)],
          1...IndexPages.maximumKey ~= reference.key
        else { return }
        let location = table.pages.location(of: reference.key)
        // A slot that names a pack has no chain below it.
        guard location.isRow, !location.isPacked else { return }
        try state.forEachInChain(location.place, of: reference) { place, header in
          guard place.isPacked, staying.contains(place.segment) else { return }
          replaced.add(header.totalByteCount, of: reference.table, in: place.segment)
        }
      }
    }
    return replaced
  }

  /// Points index slots that name removed files to the new packs, and counts which of their rows are needed.
  ///
  /// The newest packs come first, because a row is in the newest pack that has it.
  ///
  /// - Complexity: O(rows of the new packs).
  private func moveSlots(
    to packs: [PackReader],
    _ usages: inout SegmentUsages
  ) throws {
    let new = Set(packs.map { SegmentID(rawValue: $0.id.rawValue) })
    usages.remove { state.files.isGone($0) || new.contains($0) }
    for pack in packs.reversed() {
      let file = SegmentID(rawValue: pack.id.rawValue)
      var dead = SupersededBytes()
      try pack.forEachAddress { reference, address in
        let place = RecordPlace(pack: pack.id, address)
        moveSlot(of: reference, to: RecordLocation(pack: pack.id, address))
        guard try !needs(place, of: reference) else { return }
        let header = try state.header(at: place, of: reference)
        dead.add(header.totalByteCount, of: reference.table, in: file)
      }
      for entry in pack.footer.tables {
        if state.tables[Int(entry.table)] != nil {
          usages.add(entry.recordByteCount, of: entry.table, to: file)
        }
        for key in entry.deletedKeys.joined() {
          moveSlot(
            of: RowReference(table: entry.table, key: key),
            to: RecordLocation(endNotedIn: pack.id)
          )
        }
      }
      usages.release(dead)
    }
  }

  /// Releases all records of removed tables, whatever else refers to their rows.
  private func releaseRemovedTables(of packs: [PackReader], _ usages: inout SegmentUsages) {
    for number in Set(packs.flatMap { $0.footer.tables.map(\.table) }) {
      let removedAt = state.tables[Int(number)]?.removedAt.load(ordering: .relaxed)
      if let removedAt, removedAt != .max { usages.release(table: number) }
    }
  }

  private func moveSlot(of reference: RowReference, to location: RecordLocation) {
    guard let table = state.tables[Int(reference.table)],
      1...IndexPages.maximumKey ~= reference.key
    else { return }
    let before = table.pages.location(of: reference.key)
    guard !before.isNone, state.files.isGone(before.segment) else { return }
    table.pages.store(location, for: reference.key, sequence: 0)
  }

  /// Whether the newest state of a row is at a place or builds on it.
  private func needs(_ place: RecordPlace, of reference: RowReference) throws -> Bool {
    guard let table = state.tables[Int(reference.table)],
      1...IndexPages.maximumKey ~= reference.key
    else { return false }
    let location = table.pages.location(of: reference.key)
    if location.isPacked || !location.isRow { return location.place == place }
    var isFound = false
    try state.forEachInChain(location.place, of: reference) { found, _ in
      if found == place { isFound = true }
    }
    return isFound
  }
}

/// Stops the reading at a commit that cannot be applied before an older read ends.
struct MustWaitForReader: Error {}

extension Replay {
  /// Returns the packs that a frame's records build on.
  static func packs(namedIn payload: RawSpan) -> [SegmentID] {
    var packs: [SegmentID] = []
    guard let parts = CommitPayload(decoding: payload) else { return packs }
    var at = parts.recordRange.lowerBound
    while at < parts.recordRange.upperBound,
      let header = RecordHeader(decoding: payload.extracting(at..<parts.recordRange.upperBound))
    {
      let file = header.previous.segment
      if header.previous.isPacked, packs.last != file, !packs.contains(file) { packs.append(file) }
      at += header.totalByteCount
    }
    return packs
  }
}
