extension OpenFile {
  /// Copies a range of the file, to the same place of another.
  ///
  /// - Parameters:
  ///   - range: The range, which must be there.
  ///   - copy: The other file, open for writing.
  ///   - part: The part of a store that the file is, for an error.
  ///   - progress: Told, after each mebibyte, the offset up to which the file is copied.
  /// - Throws: ``StorageError/corruption(_:)`` if the file is shorter; otherwise an error of the system.
  package func copy(
    _ range: Range<Int>,
    to copy: any OpenFile,
    _ part: Corruption.Part,
    _ progress: (Int) -> Void = { _ in }
  ) throws(StorageError) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let bytes = try readBytes(min(1 << 20, range.upperBound - offset), at: offset)
      guard bytes.count > 0 else {
        let problem = Corruption.Problem.truncated(
          part,
          needed: range.upperBound,
          available: offset
        )
        throw .corruption(Corruption(path: path, offset: offset, problem: problem))
      }
      try bytes.write(to: copy, at: offset)
      offset += bytes.count
      progress(offset)
    }
  }
}
