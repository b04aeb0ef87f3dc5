import Foundation
import Harness
import PeerStores

/// The task of a contender's process: a life within a control group.
struct ConfinedTask {
  private let contender: Contender
  private let size: Size
  private let folder: URL
  private let group: String

  init(_ contender: Contender, _ size: Size, _ folder: URL, _ group: String) {
    self.contender = contender
    self.size = size
    self.folder = folder
    self.group = group
  }

  init?(_ arguments: [String]) {
    guard arguments.count == 6, let contender = Contender(rawValue: arguments[0]),
      let mebibytes = Int(arguments[1]), let rows = Int(arguments[2]),
      let seconds = Double(arguments[3])
    else { return nil }
    let size = Size(mebibytes: mebibytes, rows: rows, seconds: seconds)
    self.init(contender, size, URL(fileURLWithPath: arguments[4]), arguments[5])
  }

  var arguments: [String] {
    [
      contender.rawValue, "\(size.mebibytes)", "\(size.rows)", "\(size.seconds)", folder.path,
      group,
    ]
  }

  /// Joins the group, lives, and ends the process.
  func run() -> Never {
    do {
      // Before anything looks for the amount of memory.
      guard ControlGroup.join(group) else { throw NoControlGroup() }
      guard let peer = LargerThanMemory.peers(size).first(where: { $0.contender == contender })
      else { exit(64) }
      try ConfinedLife(peer, size, folder).run()
      exit(0)
    } catch {
      FileHandle.standardError.write(Data("error: \(contender.rawValue): \(error)\n".utf8))
      exit(1)
    }
  }
}
