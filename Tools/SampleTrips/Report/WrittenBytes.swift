import Foundation

/// Counts the bytes a store writes in one phase of a run: those the process hands to the system.
///
/// The system keeps the count, so that every kind of store is measured alike. It includes the output of the
/// run, which does not matter.
struct WrittenBytes {
  private let kind: StoreKind
  private let start: Int?

  init(_ setup: StoreSetup) {
    kind = setup.kind
    start = Self.writtenByProcess()
  }

  /// The bytes written since the phase began, or `nil` for a store that writes none, and on a system
  /// that does not tell.
  func total() -> Int? {
    guard kind.writesFiles, let start, let now = Self.writtenByProcess() else { return nil }
    return now - start
  }

  /// The value `wchar` in `/proc/self/io`.
  private static func writtenByProcess() -> Int? {
    // The file has no size, so it is read to its end instead.
    guard let file = FileHandle(forReadingAtPath: "/proc/self/io"),
      let data = try? file.readToEnd()
    else { return nil }
    for line in String(decoding: data, as: UTF8.self).split(separator: "\n")
    where line.hasPrefix("wchar: ") {
      return Int(line.dropFirst("wchar: ".count))
    }
    return nil
  }
}
