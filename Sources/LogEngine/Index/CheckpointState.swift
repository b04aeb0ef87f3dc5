/// What a writer knows of the store's checkpoints.
struct CheckpointState: Sendable {
  /// The greatest number given to a checkpoint so far.
  var highest: UInt64 = 0
  /// The newest checkpoint the store can be opened from.
  var newest: UInt64?
  /// Where it is in the log.
  var logPosition: UInt64 = 0
  /// How long its file is.
  var byteCount = 0
  /// Where the log ended when the last attempt at a checkpoint was made.
  var attemptEnd: UInt64 = 0
}
