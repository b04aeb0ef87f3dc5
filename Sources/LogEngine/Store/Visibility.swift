import Locking
import LogFormat
import Synchronization

/// The commits of an open store that are visible to readers.
///
/// A part of ``StoreState``, in place.
struct Visibility: ~Copyable, Sendable {
  /// The newest commit that is visible to readers.
  let visible = Atomic<UInt64>(0)
  /// The newest commit of another process that this one has read; zero if there is none.
  let foreign = Atomic<UInt64>(0)
  /// The oldest commit that other members may read, as of this process's last look; `max` without others.
  let othersBound = Atomic<UInt64>(.max)
  /// Odd while ``visible``, the catalogue and the tables' row counts are being changed together.
  let publication = Atomic<UInt64>(0)
  /// The oldest commit that can still be read: compaction has folded older ones into it.
  let lowWaterMark = Atomic<UInt64>(0)
  /// The commits being read.
  let pins = PinBoard()
  /// The catalogue as of the newest visible commit.
  let catalogue = Lock<Catalogue>(Catalogue(), .catalogue)
}
