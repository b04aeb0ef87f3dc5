import Foundation
import Harness

// In a process of its own: contender, folder, numbers of stores.
if let task = Companion.task {
  guard task.count > 2, let contender = Contender(rawValue: task[0]) else { exit(64) }
  do {
    let counts = task.dropFirst(2).compactMap { Int($0) }
    try TenantContender.measure(contender, counts, in: URL(fileURLWithPath: task[1]))
    exit(0)
  } catch {
    FileHandle.standardError.write(Data("error: \(contender.rawValue): \(error)\n".utf8))
    exit(1)
  }
}

runGroup("Tenants") { plan, report in try ManyStores(plan).run(report) }
