import Foundation

/// A control group of Linux that holds processes to an amount of memory, the pages of files they use included.
///
/// Needs root, and the controller of memory in version 1 or 2 of the kernel's interface.
final class ControlGroup {
  private enum Version {
    case one, two
  }

  /// Its folder, for a process that joins it by ``join(_:)``.
  let path: String
  private let version: Version

  /// Makes the group, or fails if that is not possible.
  ///
  /// - Parameter mebibytes: The memory its processes may have together.
  init?(mebibytes: Int) {
    let root = "/sys/fs/cgroup"
    let name = "logstore-benchmarks-\(getpid())-\(UUID().uuidString.prefix(8))"
    let controllers = try? String(contentsOfFile: root + "/cgroup.controllers", encoding: .utf8)
    let isUnified = controllers?.split(whereSeparator: \.isWhitespace).contains("memory") == true
    version = isUnified ? .two : .one
    path = (isUnified ? root : root + "/memory") + "/" + name
    if isUnified { _ = Self.write("+memory", to: root + "/cgroup.subtree_control") }
    guard mkdir(path, 0o755) == 0 else { return nil }
    let limit = isUnified ? "memory.max" : "memory.limit_in_bytes"
    guard Self.write("\(mebibytes << 20)", to: path + "/" + limit) else {
      rmdir(path)
      return nil
    }
    // Swap would be memory, too.
    if isUnified { _ = Self.write("0", to: path + "/memory.swap.max") }
  }

  deinit { rmdir(path) }

  /// Reads, on any thread, the megabytes of memory that its processes have beside pages of files.
  var anonymousMegabytesReader: @Sendable () -> Double {
    let field = version == .two ? "anon " : "total_rss "
    let file = path + "/memory.stat"
    return {
      let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
      for line in text.split(separator: "\n") where line.hasPrefix(field) {
        return (Double(line.dropFirst(field.count)) ?? 0) / 1e6
      }
      return 0
    }
  }

  /// The most megabytes it ever had, pages of files included.
  var peakMegabytes: Double {
    let file = version == .two ? "memory.peak" : "memory.max_usage_in_bytes"
    let text = try? String(contentsOfFile: path + "/" + file, encoding: .utf8)
    return (text?.split(whereSeparator: \.isWhitespace).first.flatMap { Double($0) } ?? .nan) / 1e6
  }

  /// Brings the calling process into a group.
  ///
  /// - Parameter path: The group's folder.
  /// - Returns: Whether it is in it.
  static func join(_ path: String) -> Bool { write("0", to: path + "/cgroup.procs") }

  private static func write(_ text: String, to path: String) -> Bool {
    guard let file = fopen(path, "w") else { return false }
    let isWritten = fputs(text, file) >= 0
    // The kernel answers when the bytes reach it.
    return fclose(file) == 0 && isWritten
  }
}
