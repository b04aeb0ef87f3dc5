import Glibc

/// Nanoseconds from some fixed moment; not affected by someone setting the time of day.
@inline(__always) public func monotonicNanoseconds() -> UInt64 { read(CLOCK_MONOTONIC) }

/// Nanoseconds the calling thread has had a processor.
public func threadProcessorNanoseconds() -> UInt64 { read(CLOCK_THREAD_CPUTIME_ID) }

@inline(__always) private func read(_ clock: clockid_t) -> UInt64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
}
