public import Foundation

/// The machine on which the figures were measured.
public enum Machine {
  /// Processors, memory and kernel, in words.
  public static var description: String {
    let processors = value(of: "model name", in: "/proc/cpuinfo")
    let name = processors.first ?? "processor unknown"
    let kilobytes = value(of: "MemTotal", in: "/proc/meminfo").first
      .flatMap { Double($0.prefix { $0.isNumber }) }
    let memory = kilobytes.map { "\(Int(($0 / 1_048_576).rounded())) GiB" } ?? "memory unknown"
    let release =
      (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? ""
    let kernel = release.trimmingCharacters(in: .whitespacesAndNewlines)
    return "\(max(1, processors.count)) × \(name), \(memory), Linux \(kernel)"
  }

  /// The file system a folder is on.
  public static func fileSystem(of folder: URL) -> String {
    let mounts = (try? String(contentsOfFile: "/proc/mounts", encoding: .utf8)) ?? ""
    return fileSystem(of: folder.path, mounts: mounts)
  }

  /// The type of the mount whose path is the longest above a folder's.
  static func fileSystem(of path: String, mounts: String) -> String {
    let holding = mounts.split(separator: "\n").map { $0.split(separator: " ") }.filter { fields in
      guard fields.count > 2 else { return false }
      return fields[1] == "/" || path == fields[1] || path.hasPrefix(fields[1] + "/")
    }
    return holding.max { $0[1].count < $1[1].count }.map { String($0[2]) } ?? "unknown"
  }

  private static func value(of field: String, in file: String) -> [String] {
    let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").filter { $0.hasPrefix(field) }.compactMap { line in
      line.split(separator: ":", maxSplits: 1).last?.trimmingCharacters(in: .whitespaces)
    }
  }
}
