import Harness

runGroup("Models") { plan, report in
  #if !GRDB
  report.note("GRDB takes no part: libsqlite3-dev is not installed")
  #endif
  try Saves(plan).run(report)
  try withFolder(plan, "fetches") { try FilledStores(plan, $0).run(report) }
  try withFolder(plan, "properties") { try PropertyAccess(plan, $0).run(report) }
  try ToMany(plan: plan).run(report)
  try Openings(plan: plan).run(report)
  try Archive(plan: plan).run(report)
}
