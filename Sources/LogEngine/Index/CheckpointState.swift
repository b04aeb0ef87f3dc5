import LogFormat

/// What a writer knows of the store's checkpoints.
struct CheckpointState: Sendable {
  /// The greatest number given to a checkpoint so far.
  var highest: UInt64 = 0
  /// The newest checkpoint the store can be opened from.
  var newest: UInt64?
  /// Where it is in the log.
  var logPosition: UInt64 = 0
  /// How long its file is, without increments.
  var byteCount = 0
  /// Where the log ended when the last attempt at a checkpoint was made.
  var attemptEnd: UInt64 = 0
  /// What the next increment of the newest checkpoint builds on; `nil` if there can be none.
  var basis: IncrementBasis?
}

/// What an increment of a checkpoint builds on: the checkpoint, or the increment before.
struct IncrementBasis: Sendable {
  /// The checkpoint's number.
  var checkpoint: UInt64
  /// The salt of its header.
  var salt: UInt64
  /// Where in its file the increment goes.
  var fileEnd: Int
  /// Where the checkpoint, or the increment before, is in the log.
  var place: LogPlace
  /// The checkpoint's catalogue.
  var catalogue: Catalogue
}
