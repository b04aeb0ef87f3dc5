import LibC

/// The memory that this process may use: the memory of the machine, or less if a Linux control group limits it, as in every
/// container.
enum MemoryLimit {
  /// The limit, in bytes; determined once.
  static let current: Int = min(physical, ofControlGroup { readText($0) } ?? .max)

  private static var physical: Int {
    let pages = sysconf(CInt(_SC_PHYS_PAGES))
    let pageByteCount = sysconf(CInt(_SC_PAGESIZE))
    return pages > 0 && pageByteCount > 0 ? pages * pageByteCount : .max
  }

  /// Returns the lowest limit of the process's group and the groups that contain it.
  ///
  /// - Parameter read: Returns the text of a file, or `nil` if there is none.
  /// - Returns: The limit in bytes; `nil` if none of the groups has one.
  static func ofControlGroup(_ read: (String) -> String?) -> Int? {
    var least: Int?
    for line in (read("/proc/self/cgroup") ?? "").split(separator: "\n") {
      // `0::/path` in version 2; `number:controllers:/path` in version 1.
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let place: (root: String, file: String)
      if parts[1].isEmpty {
        place = ("/sys/fs/cgroup", "memory.max")
      } else if parts[1].split(separator: ",").contains("memory") {
        place = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
      } else {
        continue
      }
      for group in groups(upFrom: parts[2]) {
        // "max" is not a number, and version 1's value for no limit is beyond any machine's memory.
        guard let text = read(place.root + group + "/" + place.file),
          let limit = Int(text.prefix { $0.isNumber }), limit > 0
        else { continue }
        least = min(least ?? .max, limit)
      }
    }
    return least
  }

  /// Returns a group's path and those of the groups that contain it, the outermost last: `/a/b`, `/a`, and the empty path.
  ///
  /// In a container the path may be the host's and not exist here; then the outermost group is the container's.
  private static func groups(upFrom path: Substring) -> [String] {
    var parts = path.split(separator: "/")
    var groups: [String] = []
    while !parts.isEmpty {
      groups.append(parts.map { "/" + $0 }.joined())
      parts.removeLast()
    }
    return groups + [""]
  }

  private static func readText(_ path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { _ = close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = bytes.count
    let status = unsafe bytes.withUnsafeMutableBytes {
      unsafe read(descriptor, $0.baseAddress, count)
    }
    return status > 0 ? String(decoding: bytes.prefix(status), as: UTF8.self) : nil
  }
}
