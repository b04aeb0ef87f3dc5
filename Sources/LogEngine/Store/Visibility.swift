import Locking
import LogFormat
import Synchronization

/// Which commits of an open store readers see.
///
/// A part of ``StoreState``, in place.
struct Visibility: ~Copyable, Sendable {
  /// The newest commit that readers see.
  let visible = Atomic<UInt64>(0)
  /// The newest commit that another process made, and this one read; zero if there is none.
  let foreign = Atomic<UInt64>(0)
  /// The oldest commit that other members may read, as of this process's last look; `max` without others.
  let othersBound = Atomic<UInt64>(.max)
  /// Odd while ``visible``, the catalogue and the tables' row counts are being changed together.
  let publication = Atomic<UInt64>(0)
  /// The oldest commit that can still be read: compaction has folded what is older into it.
  let lowWaterMark = Atomic<UInt64>(0)
  /// The commits that are being read.
  let pins = PinBoard()
  /// The catalogue as of the newest visible commit.
  let catalogue = Lock<Catalogue>(Catalogue(), .catalogue)
}
