import ArgumentParser
import LogEngine

extension CompletionKind {
  /// The entities of the store that the command line names.
  static var entity: CompletionKind {
    .custom { words, _, _ in EntityCompletion.names(words, on: PosixFileSystem()) }
  }
}

/// The offers of a shell after `--entity`.
enum EntityCompletion {
  /// The entities of the first argument that is a store; none, if there is no such argument.
  static func names(_ words: [String], on fileSystem: any FileSystem) -> [String] {
    for word in words.dropFirst() where !word.hasPrefix("-") {
      if let store = try? InspectedStore(word, on: fileSystem) { return store.tables.map(\.name) }
    }
    return []
  }
}
