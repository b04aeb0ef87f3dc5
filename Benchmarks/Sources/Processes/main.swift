import Foundation
import Harness

if let task = Companion.task {
  guard let role = Role(task) else { exit(64) }
  do {
    try await role.play()
    exit(0)
  } catch {
    FileHandle.standardError.write(Data("error: \(error)\n".utf8))
    exit(1)
  }
}

runGroup("Processes") { plan, report in try SharedStores(plan).run(report) }
