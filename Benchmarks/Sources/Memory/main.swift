import Foundation
import Harness

if let arguments = Companion.task {
  guard let task = ConfinedTask(arguments) else { exit(64) }
  task.run()
}

runGroup("Memory") { plan, report in try LargerThanMemory(plan).run(report) }
