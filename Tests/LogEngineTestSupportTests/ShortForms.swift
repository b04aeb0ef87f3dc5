import LogEngine
import LogEngineTestSupport

enum Persistence { case buffered, durable }

extension SimulatedFileSystem {
  /// Makes a file of given bytes.
  func makeFile(
    _ path: String,
    _ bytes: [UInt8],
    _ persistence: Persistence
  ) throws -> any OpenFile {
    let file = try open(path, .create)
    if !bytes.isEmpty { try file.write(bytes, at: 0) }
    if persistence == .durable {
      try file.synchronize()
      let directory = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
      try synchronizeDirectory(directory.isEmpty ? "/" : directory)
    }
    return file
  }

  func bytes(_ path: String) -> [UInt8]? { disk.bytes(path) }
}

extension Disk {
  func bytes(_ path: String) -> [UInt8]? { image(of: path)?.bytes }
  func after(_ scenario: Scenario) -> Disk { afterPowerCut(scenario.fates(of: pending)) }
}

extension OpenFile {
  @discardableResult
  func write(_ bytes: [UInt8], at offset: Int) throws -> Int {
    try write(bytes.span.bytes, at: offset)
  }

  func bytes() throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: try size())
    var span = bytes.mutableSpan
    var raw = span.mutableBytes
    _ = try read(into: &raw, at: 0)
    return bytes
  }
}
