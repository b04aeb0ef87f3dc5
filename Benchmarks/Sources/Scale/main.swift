import Harness

runGroup("Scale") { plan, report in
  try withFolder(plan, "scale") { try ManyModels(plan, $0).run(report) }
}
