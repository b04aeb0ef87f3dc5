extension Disk {
  /// The disk as it is found after a power cut.
  ///
  /// - Parameter fates: What becomes of each operation in ``pending``.
  /// - Returns: A disk with nothing pending.
  package func afterPowerCut(_ fates: [Fate]) -> Disk {
    precondition(fates.count == pending.count, "\(fates.count) fates of \(pending.count)")
    var disk = Disk()
    disk.files = files
    disk.names = durableNames
    for number in disk.files.indices { disk.files[number].current = files[number].durable }
    var lostDirectory = false
    for (operation, fate) in zip(pending, fates) {
      switch operation.effect {
      case .write(let number, let offset, let bytes):
        disk.files[number].current.write(bytes, at: offset, fate: fate)
      case .resize(let number, let size):
        if fate == .kept { disk.files[number].current.resize(size) }
      case .names(let changes, _):
        if fate == .kept {
          for change in changes { disk.names[change.path] = change.entry }
        } else if changes.contains(where: { $0.entry == .directory }) {
          lostDirectory = true
        }
      }
    }
    if lostDirectory { disk.removeUnreachable(knownDirectories: names) }
    disk.settle()
    return disk
  }

  /// Takes away the names in directories that are not there.
  private mutating func removeUnreachable(knownDirectories: [String: Entry]) {
    let all = names
    for path in all.keys {
      var directory = parent(of: path)
      while directory != "/" {
        if knownDirectories[directory] != nil, all[directory] == nil { names[path] = nil }
        directory = parent(of: directory)
      }
    }
  }

  /// Makes what programs see now what is durable, and forgets files without a name.
  private mutating func settle() {
    var isNamed = [Bool](repeating: false, count: files.count)
    for case .file(let number) in names.values { isNamed[number] = true }
    for number in files.indices {
      if isNamed[number] {
        files[number].durable = files[number].current
        files[number].hasLostWrites = false
      } else {
        files[number] = File()
      }
    }
    durableNames = names
  }
}
