import CAllocator
import Foundation

/// The bytes of live heap allocations of this process.
///
/// Taken from the allocator rather than from the resident set, which keeps what was freed and counts
/// pages of files.
public func liveHeapBytes() -> Int {
  let info = mallinfo2()
  return info.uordblks + info.hblkhd
}

/// The most megabytes this process ever had resident, pages of mapped files included.
public func peakResidentMegabytes() -> Double { statusMegabytes("VmHWM") }

/// The megabytes this process has resident now that are no pages of files.
public func anonymousMegabytes() -> Double { statusMegabytes("RssAnon") }

private func statusMegabytes(_ field: String) -> Double {
  let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  for line in text.split(separator: "\n") where line.hasPrefix(field + ":") {
    let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap {
      Double($0)
    }
    return (kilobytes ?? .nan) * 1024 / 1e6
  }
  return .nan
}
