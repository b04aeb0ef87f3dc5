import Foundation
import Harness
import SwiftData

// Started by `Benchmarks/tenants`.
//
//   tenants-check [--counts N,N,N] [--folder PATH]

var options: [String: String] = [:]
var rest = CommandLine.arguments.dropFirst()
while let option = rest.popFirst() { options[option] = rest.popFirst() ?? "" }

let counts = (options["--counts"] ?? "100,1000,10000").split(separator: ",").compactMap { Int($0) }
guard let last = counts.last, counts == counts.sorted(), counts.first.map({ $0 > 0 }) == true else {
  FileHandle.standardError.write(Data("error: no counts to measure; try --help\n".utf8))
  exit(64)
}

let folder =
  (options["--folder"].map { URL(fileURLWithPath: $0) } ?? FileManager.default.temporaryDirectory)
  .appending(path: "tenants-\(UUID().uuidString)")
var tenants = Tenants(folder)
var failure: (any Error)?
var before = Footprint.current()
for count in counts where failure == nil {
  let first = tenants.count
  let start = ContinuousClock.now
  do { try tenants.open(upTo: count) } catch { failure = error }
  let opened = tenants.count - first
  if opened == 0 { break }
  let perStore = (ContinuousClock.now - start) / opened
  let busy = Footprint.current()
  // Idle threads end after some seconds.
  let idle = Footprint.settled()
  do { try tenants.check() } catch { failure = failure ?? error }
  print(
    idle.described(
      since: before,
      count: tenants.count,
      of: opened,
      perStore,
      diskByteCount: tenants.diskByteCount(),
      threadPeak: busy.threads
    )
  )
  fflush(nil)
  before = idle
}
let reached = tenants.count
let start = ContinuousClock.now
tenants.close()
if reached > 0 { print("closed in \((ContinuousClock.now - start) / reached) each") }
try? FileManager.default.removeItem(at: folder)
if let failure {
  FileHandle.standardError.write(Data("error: store \(reached + 1): \(failure)\n".utf8))
}
print("\(reached) of \(last) stores open at once")
exit(failure == nil ? 0 : 1)
