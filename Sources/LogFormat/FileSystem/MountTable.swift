import LibC

/// The file systems of the host, as Linux lists them in `/proc/self/mountinfo`.
///
///     36 35 0:52 / /home rw,noatime shared:1 - nfs4 server:/home rw,vers=4.2
///           |                                  |
///           device                             type
struct MountTable {
  private let lines: [Substring]

  init(_ text: String) { lines = text.split(separator: "\n") }

  /// Returns the type of the file system on a device; `nil` if there is none.
  func type(ofDevice device: UInt64) -> String? {
    let major = device >> 8 & 0xFFF | device >> 32 & 0xFFFF_F000
    let minor = device & 0xFF | device >> 12 & 0xFFFF_FF00
    for line in lines {
      let fields = line.split(separator: " ")
      guard fields.count > 2, fields[2] == "\(major):\(minor)",
        let separator = fields.firstIndex(of: "-"), separator + 1 < fields.count
      else { continue }
      return String(fields[separator + 1])
    }
    return nil
  }

  /// The types of file systems whose files other hosts may change at the same time.
  private static let networkTypes: Set<String> = [
    "afs", "beegfs", "ceph", "cifs", "coda", "fuse.ceph", "fuse.ceph-fuse", "fuse.gcsfuse",
    "fuse.glusterfs", "fuse.juicefs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs", "gpfs", "lustre",
    "ncpfs", "nfs", "nfs4", "orangefs", "panfs", "pvfs2", "smb3", "smbfs",
  ]

  /// Whether files of a type may be changed by other hosts.
  static func isNetwork(_ type: String) -> Bool { networkTypes.contains(type) }

  /// Returns the type of the file system of an existing folder, if it is a network file system.
  ///
  /// A file system that cannot be determined counts as one of this host.
  static func networkFileSystem(of path: String, onDevice device: UInt64) -> String? {
    #if canImport(Darwin)
    var status = statfs()
    guard unsafe statfs(path, &status) == 0, status.f_flags & UInt32(MNT_LOCAL) == 0 else {
      return nil
    }
    return unsafe withUnsafeBytes(of: &status.f_fstypename) {
      String(decoding: unsafe $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    #else
    // Network file systems have no device of their own: with a device there is nothing to read.
    guard device >> 8 & 0xFFF == 0, device >> 32 & 0xFFFF_F000 == 0,
      let type = current?.type(ofDevice: device), isNetwork(type)
    else { return nil }
    return type
    #endif
  }

  #if !canImport(Darwin)
  private static var current: MountTable? {
    let descriptor = unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { _ = close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer.prefix(count)
    }
    return MountTable(String(decoding: bytes, as: UTF8.self))
  }
  #endif
}
