import Locking
import LogFormat
import RowFormat
import Synchronization

/// Moves the slots of an index that was read from a checkpoint older than some packs, a few blocks at a time.
///
/// The index is right without it: a slot that names a file which is gone leads to its row by a lookup in the packs.
struct SlotMove {
  /// The number of blocks in a step: about a millisecond.
  private static let blocksPerStep = 16

  /// The packs whose rows are left, oldest first: a row is in the newest pack that has it.
  private var packs: [PackID]
  /// The next block of the newest of them.
  private var block = 0
  private let outdated: OutdatedFiles

  /// - Parameters:
  ///   - packs: The packs to move to, oldest first.
  ///   - state: The store, as it was opened.
  init(to packs: [PackID], of state: StoreState) {
    self.packs = packs
    outdated = OutdatedFiles(state)
  }

  /// Does one step.
  ///
  /// - Returns: Whether there is more to do.
  mutating func step(_ state: StoreState) -> Bool {
    guard let id = packs.last else { return false }
    // A compaction that has taken the pack has moved the slots of its rows.
    let found = state.files.packList.withLock { list in list.first { $0.id == id } }
    let mover = SlotMover(state, isOutdated: outdated.contains)
    guard let pack = found, block < pack.footer.blocks.count else {
      if let found { mover.moveEnds(notedIn: found) }
      block = 0
      packs.removeLast()
      return !packs.isEmpty
    }
    let end = min(block + Self.blocksPerStep, pack.footer.blocks.count)
    var leftovers: [SlotMover.Leftover] = []
    // A damaged block leaves its slots as they are; a read of its rows throws the error.
    try? mover.moveSlots(ofRowsIn: block..<end, of: pack, &leftovers)
    block = end
    return true
  }
}

/// The files that were gone when a store was opened.
///
/// A file that a compaction takes afterwards is none of them: the compaction moves its slots, and an older pack may have a
/// former state of the same row.
private struct OutdatedFiles {
  private let base: SegmentID
  private let packs: Set<SegmentID>
  private let newestPack: SegmentID

  init(_ state: StoreState) {
    let numbers = state.files.packList.withLock { $0.map { SegmentID(rawValue: $0.id.rawValue) } }
    base = SegmentID(rawValue: state.files.baseSegment.load(ordering: .relaxed))
    packs = Set(numbers)
    newestPack = numbers.last ?? .none
  }

  func contains(_ location: RecordLocation) -> Bool {
    if location.isNone { return false }
    if !location.isPacked { return location.segment <= base }
    return location.segment <= newestPack && !packs.contains(location.segment)
  }
}
