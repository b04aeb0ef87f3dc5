#if os(Linux)
import Foundation
import LogEngine
import Testing

@Suite struct `A lock of a file` {
  /// Another thread may be starting a process: until that runs its own program, it has a copy of every descriptor.
  @Test func `is given back though a child has its descriptor, too`() throws {
    let fileSystem = PosixFileSystem()
    let path = FileManager.default.temporaryDirectory.appending(path: "lock-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var lock = try fileSystem.lock(path)
    try #require(lock != nil)
    #expect(try fileSystem.lock(path) == nil)
    let descriptor = try #require(try descriptors(of: path).first)
    let copy = dup(descriptor)
    defer { close(copy) }
    lock = nil
    #expect(try fileSystem.lock(path) != nil)
    withExtendedLifetime(lock) {}
  }

  private func descriptors(of path: String) throws -> [CInt] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/fd/\(name)"
      )
      return target == path ? CInt(name) : nil
    }
  }
}
#endif
