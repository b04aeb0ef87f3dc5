public import Foundation

/// A file system of its own on a loop device, whose kernel counts what is written to it.
///
/// By a process's own account, "written" bytes are those it handed to the kernel, and the account of
/// the disk is shared by all. Needs root, and a kernel with loop devices.
public final class LoopDevice {
  /// The folder at which the file system is mounted.
  public let folder: URL
  private let name: String

  /// Makes the device, or fails if that is not possible.
  ///
  /// - Parameter place: A folder for the file behind it.
  public init?(in place: URL) {
    let image = place.appending(path: "device.img")
    folder = place.appending(path: "mounted")
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // Mounted this way, the device goes when the file system is unmounted, by whatever process.
    guard geteuid() == 0, Self.run("truncate", "-s", "8G", image.path) != nil,
      Self.run("mkfs.ext4", "-q", "-F", image.path) != nil,
      Self.run("mount", "-o", "loop", image.path, folder.path) != nil,
      let device = Self.run("findmnt", "-n", "-o", "SOURCE", folder.path)
    else { return nil }
    name = (device as NSString).lastPathComponent
  }

  deinit { _ = Self.run("umount", folder.path) }

  /// The bytes written to the device since it was made, without those still in the kernel's cache.
  public var writtenBytes: Int {
    let statistics = try? String(contentsOfFile: "/sys/block/\(name)/stat", encoding: .utf8)
    let fields = statistics?.split(whereSeparator: \.isWhitespace) ?? []
    // The seventh field counts sectors of 512 bytes, whatever the device's own are.
    return fields.count > 6 ? (Int(fields[6]) ?? 0) * 512 : 0
  }

  /// Waits until everything written to the file system is on the device.
  public func synchronize() { _ = Self.run("sync", "-f", folder.path) }

  /// Runs a command.
  ///
  /// - Returns: Its output, or `nil` if it failed or does not exist.
  private static func run(_ command: String...) -> String? {
    let pipe = Pipe()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    var environment = ProcessInfo.processInfo.environment
    environment["PATH", default: ""] += ":/usr/sbin:/sbin"
    process.environment = environment
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return nil }
    return String(decoding: output, as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
