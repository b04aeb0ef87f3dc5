import LogEngine
import Synchronization

/// Files in memory, with a clock that stands unless it is told to go on, and chance that repeats itself.
///
/// The same calls leave the same bytes: what is shown of a store can be compared with what was shown before.
final class SteadyFileSystem: FileSystem {
  private let base = InMemoryFileSystem()
  /// From 2024-02-29T12:00:00Z on.
  private let time = Atomic<Int64>(1_709_208_000_000_000)
  private let state = Atomic<UInt64>(0x9E37_79B9_7F4A_7C15)

  func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    try base.open(path, mode)
  }
  func size(of path: String) throws(StorageError) -> Int? { try base.size(of: path) }
  func list(_ directory: String) throws(StorageError) -> [String]? { try base.list(directory) }
  func makeDirectory(_ path: String) throws(StorageError) { try base.makeDirectory(path) }
  func rename(_ path: String, to newPath: String) throws(StorageError) {
    try base.rename(path, to: newPath)
  }
  func link(_ path: String, as newPath: String) throws(StorageError) -> Bool {
    try base.link(path, as: newPath)
  }
  func unlink(_ path: String) throws(StorageError) { try base.unlink(path) }
  func synchronizeDirectory(_ path: String) throws(StorageError) {}
  func lock(_ path: String) throws(StorageError) -> (any FileLock)? { try base.lock(path) }

  func microseconds() -> Int64 { time.load(ordering: .relaxed) }

  /// A step of a linear congruential generator, its halves mixed.
  func randomBits() -> UInt64 {
    let bits =
      state.load(ordering: .relaxed) &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    state.store(bits, ordering: .relaxed)
    return bits ^ bits >> 33
  }

  /// The number of the process that uses the files from now on.
  let process = Atomic<Int>(17)

  var holderDescription: String { "process \(process.load(ordering: .relaxed)) on harbour" }

  /// Lets time pass.
  func advance(bySeconds seconds: Int64) { time.add(seconds * 1_000_000, ordering: .relaxed) }
}

extension SteadyFileSystem {
  /// Flips bits of a byte of a file.
  func harm(_ path: String, at offset: Int, xor mask: UInt8 = 0xFF) throws {
    let file = try open(path, .write)
    let size = try file.size()
    precondition(0..<size ~= offset, "\(path) has no byte \(offset)")
    var byte: [UInt8] = [0]
    do {
      var span = byte.mutableSpan
      var bytes = span.mutableBytes
      _ = try file.read(into: &bytes, at: offset)
    }
    byte[0] ^= mask
    _ = try file.write(byte.span.bytes, at: offset)
  }
}
