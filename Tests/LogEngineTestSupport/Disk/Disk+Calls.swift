/// What programs do to a disk.
extension Disk {
  /// Makes an empty file, or empties the one of that name.
  mutating func create(_ path: String) -> FileNumber {
    if let number = file(at: path) {
      resize(number, to: 0)
      return number
    }
    files.append(File())
    change(path, to: .file(files.count - 1))
    return files.count - 1
  }

  mutating func makeDirectory(_ path: String) {
    if names[path] == nil { change(path, to: .directory) }
  }

  mutating func write(_ bytes: [UInt8], to number: FileNumber, at offset: Int) {
    files[number].current.write(bytes, at: offset)
    pending.append(PendingOperation(effect: .write(number, offset: offset, bytes: bytes)))
  }

  mutating func resize(_ number: FileNumber, to size: Int) {
    guard files[number].current.size != size else { return }
    files[number].current.resize(size)
    pending.append(PendingOperation(effect: .resize(number, size: size)))
  }

  /// Gives a file another name: in one step inside a directory, and otherwise in two that a power
  /// cut can tell apart.
  mutating func rename(_ path: String, to newPath: String) -> Bool {
    guard let number = file(at: path) else { return false }
    if parent(of: path) == parent(of: newPath) {
      change(
        [NameChange(path: newPath, entry: .file(number)), NameChange(path: path, entry: nil)],
        in: parent(of: path)
      )
    } else {
      change(newPath, to: .file(number))
      change(path, to: nil)
    }
    return true
  }

  mutating func link(_ path: String, as newPath: String) -> Bool {
    guard let number = file(at: path) else { return false }
    change(newPath, to: .file(number))
    return true
  }

  mutating func unlink(_ path: String) {
    if names[path] != nil { change(path, to: nil) }
  }

  private mutating func change(_ path: String, to entry: Entry?) {
    change([NameChange(path: path, entry: entry)], in: parent(of: path))
  }

  private mutating func change(_ changes: [NameChange], in directory: String) {
    for change in changes { names[change.path] = change.entry }
    pending.append(PendingOperation(effect: .names(changes, directory: directory)))
  }

  // MARK: Synchronizing

  /// Makes a file's bytes and size durable; not its name.
  mutating func synchronize(_ number: FileNumber) {
    if files[number].hasLostWrites {
      for operation in pending { apply(operation, .kept, onlyTo: number) }
    } else {
      files[number].durable = files[number].current
    }
    pending.removeAll { $0.file == number }
  }

  /// Fails to make a file durable, as Linux does: what was pending counts as written from now on, and
  /// reads go on showing it, but only what `reachesDisk` lets through ever got there.
  mutating func loseWrites(of number: FileNumber, unless reachesDisk: () -> Bool) {
    for operation in pending where operation.file == number {
      apply(operation, reachesDisk() ? .kept : .lost, onlyTo: number)
    }
    pending.removeAll { $0.file == number }
    files[number].hasLostWrites = true
  }

  private mutating func apply(
    _ operation: PendingOperation,
    _ fate: Fate,
    onlyTo number: FileNumber
  ) {
    switch operation.effect {
    case .write(number, let offset, let bytes):
      files[number].durable.write(bytes, at: offset, fate: fate)
    case .resize(number, let size):
      if fate == .kept { files[number].durable.resize(size) }
    default: break
    }
  }

  /// Makes the names in a directory durable.
  mutating func synchronizeDirectory(_ path: String) {
    pending.removeAll { operation in
      guard case .names(let changes, path) = operation.effect else { return false }
      for change in changes { durableNames[change.path] = change.entry }
      return true
    }
  }
}
