import Foundation
import LogEngine
import LogTools
import Testing

@Suite struct `A process that was started without standard input, output and error` {
  @Test func `writes none of its lines into the files of a store`() async {
    await #expect(processExitsWith: .success) {
      let name = "undescribed-\(UUID().uuidString)"
      let path = FileManager.default.temporaryDirectory.appending(path: name).path
      for descriptor in STDIN_FILENO...STDERR_FILENO { _ = close(descriptor) }
      let store = try SmallStore(at: path)
      defer { try? FileManager.default.removeItem(atPath: path) }
      for round in 0..<20 {
        try store.insert([(Int64(round), String(repeating: "x", count: 4000))])
        say("line \(round) of a log that goes nowhere\n")
      }
      var options = EngineOptions()
      options.mode = .readOnly
      let follower = try StorageEngine.open(at: path, options: options)
      say("a line beside a follower\n")
      try follower.close()
      try store.close()
      let report = try StorageEngine.verify(at: path)
      precondition(report.isSound)
      let holder = try String(contentsOfFile: path + "/LOCK", encoding: .utf8)
      precondition(!holder.contains("line"))
      try store.open()
      let rows = try store.rows()
      precondition(rows.count == 20)
      try store.close()
    }
  }

  @Test func `wakes nothing that waits for a file with its lines`() async {
    await #expect(processExitsWith: .success) {
      let name = "undescribed-\(UUID().uuidString)"
      let path = FileManager.default.temporaryDirectory.appending(path: name).path
      let fileSystem = PosixFileSystem()
      let file = try fileSystem.open(path, .create)
      defer { try? fileSystem.unlink(path) }
      for descriptor in STDIN_FILENO...STDERR_FILENO { _ = close(descriptor) }
      let watch = try #require(fileSystem.watch(path))
      say("a line\n")
      let bytes: [UInt8] = [1]
      _ = try file.write(bytes.span.bytes, at: 0)
      precondition(watch.wait())
    }
  }
}

/// Writes a line to each standard descriptor, whatever has its number: a log, a warning of the runtime.
private func say(_ line: String) {
  let bytes = Array(line.utf8)
  for descriptor in STDIN_FILENO...STDERR_FILENO { _ = write(descriptor, bytes, bytes.count) }
}
