import Locking
import Synchronization

/// The log of an open store: its end, where commits are appended, and its written and durable ends.
///
/// A part of ``StoreState``, in place. Positions are counted over all segments.
struct OpenLog: ~Copyable, Sendable {
  let tail = Lock<LogTail>(LogTail(), .tail)
  /// The end of the log that was handed to the system.
  let writtenEnd = Atomic<UInt64>(0)
  /// The end of the log that is known to be on disk.
  let durableEnd = Atomic<UInt64>(0)
}
