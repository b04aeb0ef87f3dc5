import CAllocator

/// The bytes of live heap allocations of this process.
///
/// Taken from the allocator rather than from the resident set, which keeps what was freed and counts
/// pages of files.
public func liveHeapBytes() -> Int {
  let info = mallinfo2()
  return info.uordblks + info.hblkhd
}
