import Foundation
import LogEngine
import LogEngineTestSupport
import Terminal
import Testing

@testable import logstore_inspect

/// Files of which some are refused: for want of a permission, a descriptor, or room.
private struct RefusingFileSystem: ForwardingFileSystem {
  let base: any FileSystem
  let errno: Int32
  /// Whether a path cannot be opened for this.
  let refuses: @Sendable (String, OpenMode) -> Bool

  func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    if refuses(path, mode) {
      throw errno == ENOSPC
        ? .noSpace(path: path, needed: 0)
        : .inputOutput(path: path, operation: .open, errno: errno)
    }
    return try base.open(path, mode)
  }
}

@Suite struct `A file that the system refuses to let be read` {
  private func session(_ errno: Int32, refusing part: String) throws -> (TownStore, Session) {
    let store = try TownStore()
    let disk = RefusingFileSystem(base: store.disk, errno: errno) { path, mode in
      path.contains(part) && mode == .read
    }
    return (store, Session(disk: disk))
  }

  @Test(
    arguments: [EACCES, EPERM, EMFILE, ENFILE, ENOMEM],
    [".seg", ".blob", "manifest.", ".ckpt"]
  )
  func `is no damage, and a verification says what the system says`(
    errno: Int32,
    part: String
  ) throws {
    let (store, session) = try session(errno, refusing: part)
    let result = try session.run("verify", store.path)
    #expect(result.status == .usage, "\(result.transcript)")
    let words = unsafe String(cString: strerror(errno))
    #expect(result.error.map { "\($0)".contains(words) } ?? false, "\(result.transcript)")
    #expect(!result.transcript.contains("damage"), "\(result.transcript)")
  }

  @Test(arguments: [EACCES, EMFILE])
  func `is found by a verification`(errno: Int32) throws {
    for part in [".seg", ".blob"] {
      let (store, session) = try session(errno, refusing: part)
      #expect(try session.run("verify", store.path).status == .usage)
    }
  }

  /// A device that cannot read its own bytes has lost them.
  @Test func `is told from one that the device cannot read`() throws {
    let (store, session) = try session(EIO, refusing: ".blob")
    #expect(try session.run("verify", store.path).status == .damaged)
  }

  @Test(arguments: [EACCES, EMFILE])
  func `is not given up by a salvage`(errno: Int32) throws {
    for part in [".seg", ".blob"] {
      let (store, session) = try session(errno, refusing: part)
      let result = try session.run("salvage", store.path, "saved.store")
      #expect(result.status == .usage, "\(result.transcript)")
      let copy = try Session(disk: store.disk).run("verify", "saved.store")
      #expect(copy.error?.what == "there is no store", "\(copy.transcript)")
    }
  }

  @Test func `is no damage in a list of values`() throws {
    let (store, session) = try session(EACCES, refusing: ".blob")
    let result = try session.run("blobs", store.path)
    #expect(result.status == .usage, "\(result.transcript)")
  }
}

@Suite struct `An export of values to a full device` {
  @Test(arguments: [
    ["export", TownStore.storePath, "Photo", "--blobs", "out"],
    ["blobs", TownStore.storePath, "--export", "out"],
  ])
  func `says so, and names no damage`(arguments: [String]) throws {
    let store = try TownStore()
    let disk = RefusingFileSystem(base: store.disk, errno: ENOSPC) { path, mode in
      path.hasPrefix("out/") && mode == .create
    }
    let error = try #require(try Session(disk: disk).run(arguments).error)
    #expect(error.status == .usage)
    #expect(error.what == "the disk is full")
    #expect(error.place?.hasPrefix("out/") ?? false)
    #expect(!"\(error)".contains("verify") && !"\(error)".contains("salvage"), "\(error)")
  }
}
