#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A file of the real file system.
final class PosixFile: OpenFile {
  let path: String
  private let descriptor: CInt

  init(path: String, descriptor: CInt) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { _ = close(descriptor) }

  func size() throws(StorageError) -> Int {
    var status = stat()
    _ = try PosixFileSystem.call(.size, path) { unsafe fstat(descriptor, &status) }
    return Int(status.st_size)
  }

  func read(into buffer: inout MutableRawSpan, at offset: Int) throws(StorageError) -> Int {
    var done = 0
    let count = buffer.byteCount
    while done < count {
      let status = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe pread(
          descriptor,
          bytes.baseAddress.unsafelyUnwrapped + done,
          count - done,
          off_t(offset + done)
        )
      }
      if status == 0 { break }
      if status > 0 {
        done += status
      } else if errno != EINTR {
        throw PosixFileSystem.failure(.read, path, errno)
      }
    }
    return done
  }

  func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) -> Int {
    while true {
      let status = unsafe bytes.withUnsafeBytes { bytes in
        unsafe pwrite(
          descriptor,
          bytes.baseAddress.unsafelyUnwrapped,
          bytes.count,
          off_t(offset)
        )
      }
      if status > 0 { return status }
      // Zero bytes of many is no success, and asking again might go on for ever.
      if status == 0 {
        throw .inputOutput(path: path, operation: .write, errno: EIO)
      }
      if errno != EINTR {
        throw PosixFileSystem.failure(.write, path, errno, needed: bytes.byteCount)
      }
    }
  }

  func synchronize() throws(StorageError) {
    // Not through `call`: a sync that was interrupted may have lost what it was to keep.
    #if canImport(Darwin)
    let status = fcntl(descriptor, F_FULLFSYNC)
    #else
    let status = fdatasync(descriptor)
    #endif
    if status != 0 { throw PosixFileSystem.failure(.synchronize, path, errno) }
  }

  func allocate(_ size: Int) throws(StorageError) {
    #if canImport(Darwin)
    let current = try self.size()
    if current >= size { return }
    var request = fstore_t(
      fst_flags: UInt32(F_ALLOCATEALL),
      fst_posmode: F_PEOFPOSMODE,
      fst_offset: 0,
      fst_length: off_t(size - current),
      fst_bytesalloc: 0
    )
    _ = try PosixFileSystem.call(.allocate, path, needed: size) {
      unsafe fcntl(descriptor, F_PREALLOCATE, &request)
    }
    try setSize(size)
    #else
    while true {
      // Returns the error number and leaves `errno` alone.
      let code = posix_fallocate(descriptor, 0, off_t(size))
      if code == 0 { return }
      if code != EINTR {
        throw PosixFileSystem.failure(.allocate, path, code, needed: size)
      }
    }
    #endif
  }

  func setSize(_ size: Int) throws(StorageError) {
    _ = try PosixFileSystem.call(.truncate, path) { ftruncate(descriptor, off_t(size)) }
  }

  func map(_ count: Int, _ kind: MappingKind) throws(StorageError) -> MappedFile? {
    let protection = kind == .sharedReadOnly ? PROT_READ : PROT_READ | PROT_WRITE
    let flags = kind == .sharedReadOnly ? MAP_SHARED : MAP_PRIVATE
    let base = unsafe mmap(nil, count, protection, flags, descriptor, 0)
    guard let base = unsafe base, unsafe base != MAP_FAILED else {
      throw PosixFileSystem.failure(.map, path, errno)
    }
    let address = UInt(bitPattern: base)
    return unsafe MappedFile(base: base, count: count) {
      unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), count)
    }
  }

  func forgetCachedBytes() {
    #if !canImport(Darwin)
    _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
    #endif
  }
}
