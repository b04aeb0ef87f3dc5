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

/// Does work and adds to its figures what memory it took.
///
/// - Parameter work: The work.
/// - Returns: The work's own figures, and how many megabytes more than before were resident at most,
///   pages of mapped files included.
/// - Throws: What the work throws.
public func measuringMemory(_ work: () throws -> Sample) rethrows -> Sample {
  forgetPeak()
  let before = statusMegabytes("VmRSS")
  var sample = try work()
  sample.figures[.peakGrowthMegabytes] = max(0, peakResidentMegabytes() - before)
  sample.figures[.anonymousMegabytes] = anonymousMegabytes()
  return sample
}

/// Makes the kernel begin anew with the peak of memory, from what is resident now.
private func forgetPeak() {
  guard let file = fopen("/proc/self/clear_refs", "w") else { return }
  fputs("5", file)
  fclose(file)
}
