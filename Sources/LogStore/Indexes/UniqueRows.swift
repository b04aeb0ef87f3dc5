import LogEngine
import RowFormat

/// Rows by a hash of their key: the content of a unique index.
///
/// The file of the index has the rows, and memory has the changes since. No key is kept, so a hit is only a hint, and
/// the row itself has to be looked at.
struct UniqueRows: Sendable {
  /// The file that the rows are in, apart from those that changed.
  let file: SecondaryIndexFile?
  /// Rows that the file does not have.
  private var added = HashedRows()
  /// Rows of the file that have another key by now, or none.
  private var removed = HashedRows()

  /// No rows, and room for some.
  init(reserving count: Int = 0) {
    file = nil
    if count > 0 { added.reserve(count) }
  }

  /// The rows of a file.
  ///
  /// - Complexity: O(1); none of its blocks is read.
  init(_ file: SecondaryIndexFile) { self.file = file }

  /// Calls a closure with the rows of a hash until it returns `false`.
  ///
  /// - Throws: ``DamagedIndexFile``, or what `body` throws.
  /// - Complexity: O(1), and O(log *n*) if there is a file.
  func forEach(_ hash: UInt32, _ body: (RowReference) throws -> Bool) throws {
    var proceeds = true
    try added.forEach(hash) { row in
      proceeds = try body(row)
      return proceeds
    }
    guard proceeds, let file else { return }
    for row in try rows(of: hash, in: file) where !removed.contains(row, hash) {
      if try !body(row) { return }
    }
  }

  private func rows(of hash: UInt32, in file: SecondaryIndexFile) throws -> [RowReference] {
    do {
      return try file.rows(ofWord: UInt64(hash))
    } catch {
      throw DamagedIndexFile(file: file, cause: error)
    }
  }

  /// Adds a row, which must not be there under the same hash.
  mutating func insert(_ row: RowReference, _ hash: UInt32) {
    if removed.contains(row, hash) {
      removed.remove(row, hash)
    } else {
      added.insert(row, hash)
    }
  }

  /// Removes a row, if it is there.
  ///
  /// - Throws: ``DamagedIndexFile``; then the rows are of no more use.
  mutating func remove(_ row: RowReference, _ hash: UInt32) throws {
    if added.contains(row, hash) {
      added.remove(row, hash)
    } else if let file, try rows(of: hash, in: file).contains(row), !removed.contains(row, hash) {
      removed.insert(row, hash)
    }
  }

  /// The rows in the order of their hashes, as a file has them.
  ///
  /// - Throws: ``DamagedIndexFile``.
  /// - Complexity: O(*n* log *n*); if there is a file, in what has changed since.
  func ordered() throws -> OrderedKeys {
    guard let file else {
      var builder = OrderedKeys.Builder(wordCount: 1, reserving: added.count)
      added.forEachInOrder { builder.append($0.key, $0.row) }
      return builder.finish()
    }
    var keys = OrderedKeys(file)
    try removed.forEachInOrder { try keys.remove($0) }
    try added.forEachInOrder { try keys.insert($0) }
    return keys
  }
}

extension HashedRows {
  /// Calls a closure with all rows, by hash.
  fileprivate func forEachInOrder(_ body: (IndexEntry) throws -> Void) rethrows {
    // Slots are in the order of hashes but for those that were pushed on: there is little to sort.
    let sorted = entries.sorted { $0.hash != $1.hash ? $0.hash < $1.hash : $0.row < $1.row }
    for (row, hash) in sorted { try body(IndexEntry(key: IndexKey(UInt64(hash)), row: row)) }
  }
}
