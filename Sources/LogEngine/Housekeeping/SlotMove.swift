import Locking
import LogFormat
import RowFormat

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

  init(to packs: [PackID]) { self.packs = packs }

  /// Does one step.
  ///
  /// - Returns: Whether there is more to do.
  mutating func step(_ state: StoreState) -> Bool {
    guard let id = packs.last else { return false }
    // A compaction that has taken the pack has moved the slots of its rows.
    let found = state.files.packList.withLock { list in list.first { $0.id == id } }
    guard let pack = found, block < pack.footer.blocks.count else {
      if let found { SlotMover(state).moveEnds(notedIn: found) }
      block = 0
      packs.removeLast()
      return !packs.isEmpty
    }
    let end = min(block + Self.blocksPerStep, pack.footer.blocks.count)
    var leftovers: [SlotMover.Leftover] = []
    // The slots of a damaged block stay as they are, and whoever reads its rows is told.
    try? SlotMover(state).moveSlots(ofRowsIn: block..<end, of: pack, &leftovers)
    block = end
    return true
  }
}
