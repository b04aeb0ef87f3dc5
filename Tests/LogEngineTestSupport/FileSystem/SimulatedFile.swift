import LogEngine

/// An open file of a ``SimulatedFileSystem``; it keeps its bytes when its name goes.
final class SimulatedFile: OpenFile {
  let path: String
  private let number: FileNumber
  private let fileSystem: SimulatedFileSystem

  init(path: String, number: FileNumber, fileSystem: SimulatedFileSystem) {
    self.path = path
    self.number = number
    self.fileSystem = fileSystem
  }

  func size() throws(StorageError) -> Int {
    try fileSystem.call(.size, path) { (state, fault) throws(StorageError) in
      if let error = fault?.error(.size, path) { throw error }
      return state.disk.files[number].current.size
    }
  }

  func read(into buffer: inout MutableRawSpan, at offset: Int) throws(StorageError) -> Int {
    let image = try fileSystem.call(.read, path) { (state, fault) throws(StorageError) in
      if let error = fault?.error(.read, path) { throw error }
      return state.disk.files[number].current
    }
    return buffer.withUnsafeMutableBytes { image.read(into: $0, at: offset) }
  }

  func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) -> Int {
    let bytes = bytes.withUnsafeBytes { Array($0) }
    return try fileSystem.call(.write, path) { (state, fault) throws(StorageError) in
      if let error = fault?.error(.write, path, needed: bytes.count) {
        let done = Int.random(in: 0...bytes.count, using: &state.random)
        if done > 0 { state.disk.write(Array(bytes.prefix(done)), to: number, at: offset) }
        throw error
      }
      let size = state.disk.files[number].current.size
      if state.faults.isFull, offset + bytes.count > size {
        // What still fits into the file's last block is written.
        let done = min(max(0, (size + 511) & ~511 - offset), bytes.count - 1)
        guard done > 0 else { throw StorageError.noSpace(path: path, needed: bytes.count) }
        state.disk.write(Array(bytes.prefix(done)), to: number, at: offset)
        return done
      }
      if let error = state.lack(of: offset + bytes.count - size, for: path) { throw error }
      if case .misdirected(let distance) = fault?.effect {
        state.disk.write(bytes, to: number, at: max(0, offset + distance))
        return bytes.count
      }
      guard state.faults.hasShortWrites, bytes.count > 1 else {
        state.disk.write(bytes, to: number, at: offset)
        return bytes.count
      }
      let done = Int.random(in: 1...bytes.count, using: &state.random)
      state.disk.write(Array(bytes.prefix(done)), to: number, at: offset)
      return done
    }
  }

  func synchronize() throws(StorageError) {
    try fileSystem.call(.synchronize, path) { (state, fault) throws(StorageError) in
      if let error = fault?.error(.synchronize, path) {
        let isAllLost = state.random.oneIn(2)
        var random = state.random.forked(1)
        state.disk.loseWrites(of: number) { !isAllLost && random.oneIn(2) }
        throw error
      }
      if !state.faults.lies.contains(.fileSync) { state.disk.synchronize(number) }
    }
  }

  func allocate(_ size: Int) throws(StorageError) {
    try fileSystem.call(.allocate, path) { (state, fault) throws(StorageError) in
      if let error = fault?.error(.allocate, path, needed: size) { throw error }
      if state.faults.isFull, size > state.disk.files[number].current.size {
        throw StorageError.noSpace(path: path, needed: size)
      }
      let growth = size - state.disk.files[number].current.size
      if let error = state.lack(of: growth, for: path) { throw error }
      if size > state.disk.files[number].current.size { state.disk.resize(number, to: size) }
    }
  }

  func setSize(_ size: Int) throws(StorageError) {
    try fileSystem.call(.truncate, path) { (state, fault) throws(StorageError) in
      if let error = fault?.error(.truncate, path) { throw error }
      state.disk.resize(number, to: size)
    }
  }

  /// Maps a copy: right for a private mapping, while a shared one, which would show later writes, is
  /// declined, so that every read is a call that can fail.
  func map(_ count: Int, _ kind: MappingKind) throws(StorageError) -> MappedFile? {
    guard kind == .privateWritable, count > 0 else { return nil }
    let image = try fileSystem.call(.map, path) { (state, fault) throws(StorageError) in
      if let error = fault?.error(.map, path) { throw error }
      return state.disk.files[number].current
    }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: Page.byteCount)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    _ = image.read(into: memory, at: 0)
    guard let base = memory.baseAddress else { return nil }
    let address = UInt(bitPattern: base)
    return MappedFile(base: base, count: count) {
      UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
    }
  }
}

extension SimulatedFileSystem.State {
  /// The error of a file that is to grow by more than the device has left.
  fileprivate func lack(of growth: Int, for path: String) -> StorageError? {
    guard let capacity = faults.capacity, growth > 0 else { return nil }
    return disk.byteCount + growth <= capacity ? nil : .noSpace(path: path, needed: growth)
  }
}
