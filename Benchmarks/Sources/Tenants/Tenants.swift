import Foundation
import Harness

/// Stores of one process that are all open at once: one for each customer of a service, say.
struct Tenants<Store> {
  private let folder: URL
  private let open: (URL, Int) throws -> Store
  private let check: (Store, Int) throws -> Void
  private(set) var stores: [Store] = []

  /// Prepares to open stores.
  ///
  /// - Parameters:
  ///   - folder: The folder of the stores.
  ///   - open: Makes the store of a number, with a row that says the number.
  ///   - check: Checks that the row is there.
  init(
    _ folder: URL,
    open: @escaping (URL, Int) throws -> Store,
    check: @escaping (Store, Int) throws -> Void
  ) {
    self.folder = folder
    self.open = open
    self.check = check
  }

  /// Opens new stores until there are as many as asked for.
  ///
  /// - Returns: The duration of each opening.
  /// - Throws: What a store throws.
  mutating func open(upTo count: Int) throws -> LatencyHistogram {
    var histogram = LatencyHistogram()
    while stores.count < count {
      let number = stores.count
      let place = folder.appending(path: "\(number / 1000)")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      let begin = monotonicNanoseconds()
      stores.append(try open(place.appending(path: "\(number).store"), number))
      histogram.record(monotonicNanoseconds() - begin)
    }
    return histogram
  }

  /// Checks that the first, the middle and the last store have the row that was saved in them.
  func checkSome() throws {
    for number in [0, stores.count / 2, stores.count - 1] { try check(stores[number], number) }
  }

  /// The size of the stores' files on the disk, in bytes, including folders and space that is reserved and not written.
  func diskByteCount() -> Int {
    let entries = FileManager.default.enumerator(atPath: folder.path)
    var count = 0
    while let entry = entries?.nextObject() as? String {
      var status = stat()
      if lstat(folder.appending(path: entry).path, &status) == 0 {
        count += Int(status.st_blocks) * 512
      }
    }
    return count
  }
}
