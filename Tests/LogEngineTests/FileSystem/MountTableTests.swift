import Foundation
import Testing

@testable import LogFormat

@Suite struct `The list of mounted file systems` {
  private let table = MountTable(
    """
    22 27 0:21 / /proc rw,nosuid - proc proc rw
    27 1 252:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
    36 27 0:52 / /home rw,noatime shared:2 master:1 - nfs4 server:/home rw,vers=4.2
    37 27 0:53 / /with\\040space rw - fuse.sshfs me@server: rw
    38 27 0:999 / /far rw
    39 27 0:70000 / /share - cifs //server/share rw
    40
    """
  )

  private static func device(_ major: UInt64, _ minor: UInt64) -> UInt64 {
    minor & 0xFF | (major & 0xFFF) << 8 | (minor & ~0xFF) << 12 | (major & ~0xFFF) << 32
  }

  @Test(
    arguments: [
      (0, 21, "proc"), (252, 1, "ext4"), (0, 52, "nfs4"), (0, 53, "fuse.sshfs"),
      (0, 70_000, "cifs"),
      (0, 54, nil), (0, 999, nil), (52, 0, nil),
    ] as [(UInt64, UInt64, String?)]
  )
  func `has the type of each device`(major: UInt64, minor: UInt64, type: String?) {
    #expect(table.type(ofDevice: Self.device(major, minor)) == type)
  }

  @Test func `tells those of a network from those of the host`() {
    for type in ["nfs", "nfs4", "cifs", "smb3", "ceph", "fuse.sshfs"] {
      #expect(MountTable.isNetwork(type))
    }
    for type in ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "fuse.ntfs-3g", "9p"] {
      #expect(!MountTable.isNetwork(type))
    }
  }

  #if os(Linux)
  @Test(arguments: ["/proc", "/proc/none/of/these", "/", "", "none/of/these"])
  func `has none of a network where this test runs, whether or not the path exists`(
    path: String
  ) throws {
    #expect(try PosixFileSystem().networkFileSystem(of: path) == nil)
  }
  #endif
}
