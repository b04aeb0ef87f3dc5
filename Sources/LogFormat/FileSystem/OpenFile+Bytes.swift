import RowFormat

extension OpenFile {
  /// Reads the whole file, but no more than a gigabyte: a file may be long and empty, and one longer than any manifest is
  /// damaged anyway.
  package func readAll() throws(StorageError) -> ByteBuffer {
    let count = min(try size(), 1 << 30)
    var buffer = ByteBuffer(capacity: count)
    try buffer.append(upTo: count) { (room) throws(StorageError) in try read(into: &room, at: 0) }
    return buffer
  }

  /// Reads at most that many bytes.
  package func readBytes(_ count: Int, at offset: Int) throws(StorageError) -> ByteBuffer {
    var buffer = ByteBuffer(capacity: count)
    try buffer.append(upTo: count) { (room) throws(StorageError) in
      try read(into: &room, at: offset)
    }
    return buffer
  }

  /// Reads at most that many words of eight bytes; each has its bytes in the order of the file.
  package func readWords(_ count: Int, at offset: Int) throws(StorageError) -> [UInt64] {
    var failure: StorageError?
    let words = unsafe [UInt64](unsafeUninitializedCapacity: count) { words, initializedCount in
      var bytes = unsafe MutableRawSpan(_unsafeBytes: UnsafeMutableRawBufferPointer(words))
      do throws(StorageError) {
        initializedCount = try read(into: &bytes, at: offset) / 8
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return words
  }

  /// Writes all bytes, in as many steps as needed.
  package func writeAll(_ bytes: RawSpan, at offset: Int) throws(StorageError) {
    var done = 0
    while done < bytes.byteCount {
      done += try write(bytes.extracting(done..<bytes.byteCount), at: offset + done)
    }
  }
}

extension ByteBuffer {
  /// Writes all bytes to a file.
  package func write(to file: any OpenFile, at offset: Int) throws(StorageError) {
    try file.writeAll(bytes, at: offset)
  }
}
