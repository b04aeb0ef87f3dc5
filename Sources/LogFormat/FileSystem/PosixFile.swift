import LibC
import Synchronization

/// A file of the real file system.
final class PosixFile: OpenFile {
  let path: String
  private let descriptor: Descriptor
  /// The address of the file's read-only mapping, used for queries and never for reads; 0 without a mapping.
  private let mapped = Atomic<UInt>(0)

  init(path: String, descriptor: CInt) {
    self.path = path
    self.descriptor = Descriptor(descriptor)
  }

  func close() { descriptor.giveBack() }

  func size() throws(StorageError) -> Int {
    try descriptor.use(path) { (descriptor) throws(StorageError) in
      var status = stat()
      _ = try PosixFileSystem.call(.size, path) { unsafe fstat(descriptor, &status) }
      return Int(status.st_size)
    }
  }

  func read(into buffer: inout MutableRawSpan, at offset: Int) throws(StorageError) -> Int {
    try descriptor.use(path) { (descriptor) throws(StorageError) in
      try read(into: &buffer, at: offset, descriptor)
    }
  }

  private func read(
    into buffer: inout MutableRawSpan,
    at offset: Int,
    _ descriptor: CInt
  ) throws(StorageError) -> Int {
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
    try descriptor.use(path) { (descriptor) throws(StorageError) in
      try write(bytes, at: offset, descriptor)
    }
  }

  private func write(
    _ bytes: RawSpan,
    at offset: Int,
    _ descriptor: CInt
  ) throws(StorageError) -> Int {
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
      // Writing zero of many bytes is not a success, and a retry might loop for ever.
      if status == 0 {
        throw .inputOutput(path: path, operation: .write, errno: EIO)
      }
      if errno != EINTR {
        throw PosixFileSystem.failure(.write, path, errno, needed: bytes.byteCount)
      }
    }
  }

  func synchronize() throws(StorageError) {
    try descriptor.use(path) { (descriptor) throws(StorageError) in
      // Not through `call`: an interrupted synchronization may have lost the bytes it was to write.
      #if canImport(Darwin)
      let status = fcntl(descriptor, F_FULLFSYNC)
      #else
      let status = fdatasync(descriptor)
      #endif
      if status != 0 { throw PosixFileSystem.failure(.synchronize, path, errno) }
    }
  }

  func allocate(_ size: Int) throws(StorageError) {
    try descriptor.use(path) { (descriptor) throws(StorageError) in try allocate(size, descriptor) }
  }

  private func allocate(_ size: Int, _ descriptor: CInt) throws(StorageError) {
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
      // Returns the error number and leaves `errno` unchanged.
      let code = posix_fallocate(descriptor, 0, off_t(size))
      if code == 0 { return }
      if code != EINTR {
        throw PosixFileSystem.failure(.allocate, path, code, needed: size)
      }
    }
    #endif
  }

  func setSize(_ size: Int) throws(StorageError) {
    _ = try descriptor.use(path) { (descriptor) throws(StorageError) in
      try PosixFileSystem.call(.truncate, path) { ftruncate(descriptor, off_t(size)) }
    }
  }

  func map(_ count: Int, _ kind: MappingKind) throws(StorageError) -> MappedFile? {
    let protection = kind == .sharedReadOnly ? PROT_READ : PROT_READ | PROT_WRITE
    let flags = kind == .sharedReadOnly ? MAP_SHARED : MAP_PRIVATE
    let address = try descriptor.use(path) { (descriptor) throws(StorageError) in
      let base = unsafe mmap(nil, count, protection, flags, descriptor, 0)
      guard let base = unsafe base, unsafe base != MAP_FAILED else {
        throw PosixFileSystem.failure(.map, path, errno)
      }
      return UInt(bitPattern: base)
    }
    guard let base = unsafe UnsafeMutableRawPointer(bitPattern: address) else {
      preconditionFailure("a file was mapped at address 0")
    }
    if kind == .sharedReadOnly { mapped.store(address, ordering: .relaxed) }
    let advise = { @Sendable (pattern: AccessPattern) in
      let advice =
        switch pattern {
        case .unknown: MADV_NORMAL
        case .random: MADV_RANDOM
        case .sequential: MADV_SEQUENTIAL
        }
      _ = unsafe madvise(UnsafeMutableRawPointer(bitPattern: address), count, CInt(advice))
    }
    return unsafe MappedFile(base: base, count: count, advise: advise) {
      unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), count)
    }
  }

  func willRead(_ range: Range<Int>) {
    if range.isEmpty || isCached(at: range.upperBound - 1) { return }
    // A hint: nothing is lost if the file was closed.
    try? descriptor.use(path) { (descriptor) throws(StorageError) in advise(range, descriptor) }
  }

  private func advise(_ range: Range<Int>, _ descriptor: CInt) {
    #if canImport(Darwin)
    var advice = radvisory(
      ra_offset: off_t(range.lowerBound),
      ra_count: CInt(clamping: range.count)
    )
    _ = unsafe fcntl(descriptor, F_RDADVISE, &advice)
    #else
    let start = off_t(range.lowerBound)
    _ = posix_fadvise(descriptor, start, off_t(range.count), POSIX_FADV_WILLNEED)
    #endif
  }

  /// Whether a byte is known to be in the system's cache.
  ///
  /// Advice on cached bytes still costs a visit to each page; this checks only one page.
  private func isCached(at offset: Int) -> Bool {
    let mapped = mapped.load(ordering: .relaxed)
    if mapped == 0 { return false }
    var residence: UInt8 = 0
    let page = UInt(offset) & ~(UInt(sysconf(CInt(_SC_PAGESIZE))) - 1)
    // For memory that is no longer mapped, this returns an error.
    let status = unsafe mincore(UnsafeMutableRawPointer(bitPattern: mapped + page), 1, &residence)
    return status == 0 && residence & 1 == 1
  }
}
