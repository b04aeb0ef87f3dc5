package import LogFormat

/// The processes that keep others from a store, in words.
///
/// The text in `LOCK` is that of the last process that had the store alone, also once several processes write it, or a process
/// holds the lock that has not written its own. So the members come first, whose locks show that they live, and of the others
/// none is named that is known to have ended.
package struct StoreHolders {
  private let paths: StorePaths
  private let fileSystem: any FileSystem

  /// The number of members that are named.
  private static let nameLimit = 3

  package init(_ paths: StorePaths, _ fileSystem: any FileSystem) {
    self.paths = paths
    self.fileSystem = fileSystem
  }

  /// The error of a process that cannot have the store.
  package func refusal() -> StorageError { .locked(path: paths.root, holder: description) }

  /// The processes that have the store.
  package var description: String {
    let members = Members(paths: paths, fileSystem: fileSystem)
    // A folder that cannot be listed is no reason for another error than that the store is in use.
    let numbers =
      (try? fileSystem.list(paths.members)).flatMap(\.self) == nil
      ? [] : (try? members.others()) ?? []
    guard !numbers.isEmpty else {
      return words(for: (try? LockFile(paths.lock, fileSystem).holder()).flatMap(\.self))
        ?? "a process that is not known"
    }
    var names: [String] = []
    for number in numbers.prefix(Self.nameLimit) {
      if let name = words(for: members.name(of: number)), !names.contains(name) {
        names.append(name)
      }
    }
    let others = numbers.count - names.count
    switch (names.isEmpty, others) {
    case (true, 1): return "a process that is not known"
    case (true, _): return "\(others) processes that are not known"
    case (false, 0): return names.joined(separator: ", ")
    case (false, 1): return names.joined(separator: ", ") + " and another process"
    case (false, _): return names.joined(separator: ", ") + " and \(others) other processes"
    }
  }

  /// The description that a process left, unless it has ended.
  private func words(for holder: String?) -> String? {
    guard let holder, !fileSystem.hasEnded(holder) else { return nil }
    return holder == fileSystem.holderDescription
      ? "\(StorageError.thisProcess), which has it open already" : holder
  }
}
