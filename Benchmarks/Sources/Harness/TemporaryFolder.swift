public import Foundation

/// A folder of its own for a store, gone when the work on it is done.
///
/// - Parameters:
///   - plan: Says where.
///   - name: The name of the folder.
///   - body: The work.
/// - Returns: The result of the work.
/// - Throws: What the work or the file system throws.
public func withFolder<Result>(
  _ plan: Plan,
  _ name: String,
  _ body: (URL) throws -> Result
) throws -> Result {
  let folder = plan.folder.appendingPathComponent("\(name)-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder)
}
