import Locking
import Synchronization

/// The log of an open store: its end, where commits are appended, and how far it is written and on disk.
///
/// A part of ``StoreState``, in place. Positions are counted over all segments.
struct OpenLog: ~Copyable, Sendable {
  let tail = Lock<LogTail>(LogTail(), .tail)
  /// Where the log was handed to the system up to.
  let writtenEnd = Atomic<UInt64>(0)
  /// Where the log is known to be on disk up to.
  let durableEnd = Atomic<UInt64>(0)
}
