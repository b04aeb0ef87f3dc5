import LogEngine
import RowFormat

/// Holds a store against the script.
enum KilledStore {
  /// Opens the store to read, and checks it.
  ///
  /// - Returns: The newest commit.
  static func check(_ path: String) throws -> Int {
    try check(StorageEngine.open(at: path, options: KillScript.options(.readOnly)))
  }

  /// Compares every row with what the newest commit must have left.
  ///
  /// - Returns: The newest commit.
  static func check(_ engine: StorageEngine) throws -> Int {
    let view = engine.makeReadView()
    let commit = Int(view.sequence.rawValue)
    var expected = KillScript.keys(after: commit).map(Array.init) ?? []
    expected.reverse()
    try view.scan(KillScript.table) { key, _, row in
      guard let next = expected.popLast(), next == Int(key) else {
        throw WrongContent(commit: commit, key: Int(key))
      }
      guard row.withUnsafeBytes({ $0.elementsEqual(KillScript.row(next, after: commit)) }) else {
        throw WrongContent(commit: commit, key: next)
      }
      return .proceed
    }
    if let missing = expected.last { throw WrongContent(commit: commit, key: missing) }
    return commit
  }
}

/// The rows are not those that the newest commit left.
struct WrongContent: Error, CustomStringConvertible {
  var commit: Int
  var key: Int

  var description: String {
    "commit \(commit) is the newest, and row \(key) is not as it left it, or not there, or too many"
  }
}
