@testable import LogEngine
import LogEngineTestSupport
@testable import LogFormat

/// A step of the engine's protocols, as the file system and the callers see it.
enum ProtocolStep: Sendable {
  case create(String)
  case write(String, Range<Int>)
  /// Zeros were written, which stand for nothing: they make room for frames.
  case fill(String)
  case synchronize(String)
  case setSize(String, Int)
  /// With what a manifest that gets its name says.
  case rename(String, to: String, Manifest?)
  case unlink(String)
  case synchronizeDirectory(String)
  /// A commit has returned that promised to be on disk.
  case acknowledge
  /// A call failed.
  case fail(String)
  /// The store was opened; its files were looked at, and what a crash left was mended.
  case opened
  /// The store is closed, or its process ended.
  case ended
}

/// A file system that hands over every step that changes the disk, once it is done.
final class TracedFileSystem: ForwardingFileSystem {
  let base: any FileSystem
  private let step: @Sendable (ProtocolStep) -> Void

  init(_ base: any FileSystem, step: @escaping @Sendable (ProtocolStep) -> Void) {
    self.base = base
    self.step = step
  }

  func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    let file = try base.open(path, mode)
    if mode == .create { step(.create(path)) }
    return TracedFile(file, self)
  }

  func rename(_ path: String, to newPath: String) throws(StorageError) {
    let manifest = newPath.contains("/manifest.") ? readManifest(path) : nil
    do throws(StorageError) {
      try base.rename(path, to: newPath)
    } catch {
      throw failed(path, error)
    }
    step(.rename(path, to: newPath, manifest))
  }

  private func readManifest(_ path: String) -> Manifest? {
    do throws(StorageError) {
      let buffer = try base.open(path, .read).readAll()
      return try Manifest(decoding: buffer.bytes, path: path)
    } catch {
      return nil
    }
  }

  func unlink(_ path: String) throws(StorageError) {
    do throws(StorageError) {
      try base.unlink(path)
    } catch {
      throw failed(path, error)
    }
    step(.unlink(path))
  }

  func synchronizeDirectory(_ path: String) throws(StorageError) {
    do throws(StorageError) {
      try base.synchronizeDirectory(path)
    } catch {
      throw failed(path, error)
    }
    step(.synchronizeDirectory(path))
  }

  private func failed(_ path: String, _ error: StorageError) -> StorageError {
    step(.fail(path))
    return error
  }

  func status(of path: String) throws(StorageError) -> FileStatus? { try base.status(of: path) }

  private final class TracedFile: OpenFile {
    private let base: any OpenFile
    private let fileSystem: TracedFileSystem

    init(_ base: any OpenFile, _ fileSystem: TracedFileSystem) {
      self.base = base
      self.fileSystem = fileSystem
    }

    var path: String { base.path }
    func size() throws(StorageError) -> Int { try base.size() }
    func read(into buffer: inout MutableRawSpan, at offset: Int) throws(StorageError) -> Int {
      try base.read(into: &buffer, at: offset)
    }
    func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) -> Int {
      let count: Int
      do throws(StorageError) {
        count = try base.write(bytes, at: offset)
      } catch {
        throw fileSystem.failed(path, error)
      }
      let isBlank = bytes.withUnsafeBytes { $0.allSatisfy { $0 == 0 } }
      fileSystem.step(isBlank ? .fill(path) : .write(path, offset..<(offset + count)))
      return count
    }
    func synchronize() throws(StorageError) {
      do throws(StorageError) {
        try base.synchronize()
      } catch {
        throw fileSystem.failed(path, error)
      }
      fileSystem.step(.synchronize(path))
    }
    func allocate(_ size: Int) throws(StorageError) { try base.allocate(size) }
    func setSize(_ size: Int) throws(StorageError) {
      do throws(StorageError) {
        try base.setSize(size)
      } catch {
        throw fileSystem.failed(path, error)
      }
      fileSystem.step(.setSize(path, size))
    }
    func map(_ count: Int, _ kind: MappingKind) throws(StorageError) -> MappedFile? {
      try base.map(count, kind)
    }
  }
}
