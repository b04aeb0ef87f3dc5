import Harness

runGroup("Queries") { plan, report in
  #if !GRDB
  report.note("SQLite and GRDB take no part: libsqlite3-dev is not installed")
  #endif
  report.note(
    "scan-indexed, top-100-indexed: LogEngine and the key-value stores have no such indexes"
  )
  try withFolder(plan, "trips") { try TripQueries(plan, $0).run(report) }
  try withFolder(plan, "flights") { try FlightQueries(plan, $0).run(report) }
}
