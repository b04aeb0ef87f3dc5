/// A disk at one moment: what a power cut would leave, what programs see, and what lies between.
///
/// A value: copies are cheap and go their own ways. What it keeps true: applying all of ``pending``,
/// in order, to the durable names and images gives the current ones, unless a failed synchronization
/// has lost writes that only the cache still shows.
package struct Disk: Sendable {
  struct File: Sendable {
    var durable = FileImage()
    var current = FileImage()
    /// Whether ``current`` shows bytes that will never become durable.
    var hasLostWrites = false
  }

  /// The files, by number, those without a name included.
  var files: [File] = []
  /// What the names mean to programs.
  var names: [String: Entry] = [:]
  /// What the names would mean after a power cut that kept nothing of ``pending``.
  var durableNames: [String: Entry] = [:]
  /// What was done since the last synchronizations, oldest first.
  package internal(set) var pending: [PendingOperation] = []

  package init() {}

  // MARK: Looking

  /// The paths of all files, in order.
  package var paths: [String] {
    names.compactMap { if case .file = $0.value { $0.key } else { nil } }.sorted()
  }

  /// How many bytes the files have that have a name.
  package var byteCount: Int {
    names.values.reduce(0) { sum, entry in
      if case .file(let number) = entry { sum + files[number].current.size } else { sum }
    }
  }

  /// What a program reads in a file.
  package func image(of path: String) -> FileImage? { file(at: path).map { files[$0].current } }

  func file(at path: String) -> FileNumber? {
    if case .file(let number) = names[path] { number } else { nil }
  }

  func list(_ directory: String) -> [String]? {
    guard names[directory] == .directory else { return nil }
    let prefix = directory + "/"
    return names.keys.compactMap { path in
      guard path.utf8.count > prefix.utf8.count, path.hasPrefix(prefix) else { return nil }
      let name = path.utf8.dropFirst(prefix.utf8.count)
      return name.contains(UInt8(ascii: "/")) ? nil : String(Substring(name))
    }
  }

  /// Sixty-four bits that differ when what programs see does.
  package var hash: UInt64 {
    var sum: UInt64 = 0
    for (path, entry) in names {
      let name = path.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
      let content: UInt64 =
        if case .file(let number) = entry { files[number].current.hash } else { 7 }
      sum &+= mixed(name ^ mixed(content))
    }
    return sum
  }

  // MARK: Damage

  /// Changes a file behind everyone's back, in the cache as on the disk.
  package mutating func damage(_ path: String, _ change: (inout FileImage) -> Void) {
    guard let number = file(at: path) else { return }
    change(&files[number].current)
    if files[number].hasLostWrites {
      change(&files[number].durable)
    } else {
      files[number].durable = files[number].current
    }
  }

  /// Takes a file away without a trace.
  package mutating func remove(_ path: String) {
    names[path] = nil
    durableNames[path] = nil
  }
}

/// The directory a path is in; the top, "/", is always there.
func parent(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
  return String(path[..<slash])
}
