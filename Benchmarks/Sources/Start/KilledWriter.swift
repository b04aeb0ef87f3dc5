import Foundation
import Harness
import ModelStores
import PeerStores
import Workloads

/// This program again, as a writer that is killed before it can close.
enum KilledWriter {
  /// Numbers of rows of about 210 bytes that are written before the end: 2, 8, 32 and 63 MiB.
  static let tails = [10_000, 40_000, 160_000, 310_000]

  private static let ready = "ready"

  /// Writes and waits to be killed, if this process is such a writer.
  static func runIfAsked() {
    let arguments = CommandLine.arguments
    guard arguments.count == 6, arguments[1] == "--killed-writer", let rows = Int(arguments[3]),
      let added = Int(arguments[4]),
      let peer = (Peer.installed + [.models]).first(where: {
        $0.contender.rawValue == arguments[2]
      })
    else { return }
    do {
      let records = TripGenerator().records(0..<10_000)
      let store = try peer.open(URL(fileURLWithPath: arguments[5]), .relaxed)
      let rotated = Array(records[1...]) + [records[0]]
      for first in stride(from: 0, to: added, by: 100) {
        let start = first % rotated.count
        try store.insert(rotated[start..<start + 100], firstKey: UInt64(rows + first + 1))
      }
      FileHandle.standardOutput.write(Data(ready.utf8))
      while true { sleep(1000) }
    } catch {
      FileHandle.standardError.write(Data("error: \(peer.contender.rawValue): \(error)\n".utf8))
      exit(1)
    }
  }

  /// Lets a writer add rows to a store, and kills it.
  ///
  /// - Throws: ``PeerError`` if it dies by itself.
  static func run(_ peer: Peer, rows: Int, added: Int, in folder: URL) throws {
    let pipe = Pipe()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [
      "--killed-writer", peer.contender.rawValue, String(rows), String(added), folder.path,
    ]
    process.standardOutput = pipe
    try process.run()
    let said = pipe.fileHandleForReading.readData(ofLength: ready.utf8.count)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    guard said == Data(ready.utf8) else { throw PeerError(peer.contender, "a writer failed") }
  }
}
