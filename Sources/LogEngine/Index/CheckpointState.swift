import LogFormat

/// A writer's knowledge of the store's checkpoints.
struct CheckpointState: Sendable {
  /// The greatest number given to a checkpoint so far.
  var highest: UInt64 = 0
  /// The newest checkpoint that the store can be opened from.
  var newest: UInt64?
  /// The log position of the newest checkpoint.
  var logPosition: UInt64 = 0
  /// The size of its file without increments, in bytes.
  var byteCount = 0
  /// The end of the log at the last attempt at a checkpoint.
  var attemptEnd: UInt64 = 0
  /// The basis of the next increment of the newest checkpoint; `nil` if there can be none.
  var basis: IncrementBasis?
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
