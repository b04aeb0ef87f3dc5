import LogFormat

/// A writer's knowledge of the store's checkpoints.
struct CheckpointState: Sendable {
  /// The greatest number given to a checkpoint so far.
  var highest: UInt64 = 0
  /// The newest checkpoint that the store can be opened from, now or with the next increment.
  var newest: UInt64?
  /// Whether a compaction came after the newest checkpoint, whose slots then name files that are gone.
  var namesGoneFiles = false
  /// At an opening, the packs to which slots of such a checkpoint are to be moved.
  var newerPacks: [PackID] = []
  /// The log position of the newest checkpoint.
  var logPosition: UInt64 = 0
  /// The size of its file without increments, in bytes.
  var byteCount = 0
  /// The end of the log at the last attempt at a checkpoint.
  var attemptEnd: UInt64 = 0
  /// The basis of the next increment of the newest checkpoint; `nil` if there can be none.
  var basis: IncrementBasis?

  /// Records a compaction.
  ///
  /// The newest checkpoint can be continued if the log still has the place of its last increment: all rows before that
  /// place are in the checkpoint, as of some record, and a record in a file that is gone leads to its row in a pack.
  ///
  /// - Parameters:
  ///   - base: The new beginning of the log.
  ///   - canContinue: Whether increments are written at all.
  mutating func recordCompaction(upTo base: LogBase?, canContinue: Bool) {
    guard canContinue, newest != nil, let basis, basis.checkpoint == newest,
      basis.place.segment > base?.segment ?? .none
    else {
      newest = nil
      return
    }
    namesGoneFiles = true
  }
}

/// The basis of an increment of a checkpoint: the checkpoint itself, or the previous increment.
struct IncrementBasis: Sendable {
  /// The checkpoint's number.
  var checkpoint: UInt64
  /// The salt of its header.
  var salt: UInt64
  /// The offset in its file at which the increment is written.
  var fileEnd: Int
  /// The place in the log of the checkpoint or the previous increment.
  var place: LogPlace
  /// The checkpoint's catalogue.
  var catalogue: Catalogue
}
