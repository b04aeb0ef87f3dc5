import Foundation
import GRDBPeer
import Harness
import Workloads

// `Benchmarks/growth --server` asks how costs grow instead.
if CommandLine.arguments.dropFirst().first == "--growth" {
  let counts = CommandLine.arguments.dropFirst(2).compactMap { Int($0) }
  do {
    let server = try Server()
    defer { server.stop() }
    try ServerGrowth.run(server.url, counts: counts)
  } catch {
    FileHandle.standardError.write(Data("error: \(error)\n".utf8))
    exit(1)
  }
  exit(0)
}

runGroup("Postgres") { plan, report in
  #if !GRDB
  report.note("GRDB takes no part: libsqlite3-dev is not installed")
  #endif
  let server = try Server()
  defer { server.stop() }
  let benchmarks = try ServerBenchmarks(plan, server)
  try benchmarks.run(report)
}
