import Foundation
import GRDBPeer
import Harness
import Workloads

runGroup("Postgres") { plan, report in
  #if !GRDB
  report.note("GRDB takes no part: libsqlite3-dev is not installed")
  #endif
  let server = try Server()
  defer { server.stop() }
  let benchmarks = try ServerBenchmarks(plan, server)
  try benchmarks.run(report)
}
