import Foundation
import Testing

/// Compares text with a file of `Snapshots/`.
///
/// With RECORD_SNAPSHOTS=1 in the environment the files are written instead: look at what changed in them
/// before you commit it.
func expectSnapshot(
  _ text: String,
  _ name: String,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Snapshots")
  let url = folder.appendingPathComponent(name + ".txt")
  if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] == "1" {
    try text.write(to: url, atomically: false, encoding: .utf8)
    return
  }
  let expected = try? String(contentsOf: url, encoding: .utf8)
  if text == expected { return }
  Issue.record(
    Comment(rawValue: "\(name) is shown as:\n\(text)\nand was:\n\(expected ?? "(no such file)")"),
    sourceLocation: sourceLocation
  )
}
