import Foundation
import Harness
import Reporting

// Started by `Benchmarks/run` behind the groups, and by `Benchmarks/publish`: draws, compares, publishes.
//
//   benchmark-report --results FILE [--latencies FILE --timelines FILE --out FOLDER --command TEXT --toolchain TEXT
//                    --folder FOLDER --load TEXT] [--compare OLD.json]
//   benchmark-report --results FILE --latencies FILE --circumstances FILE --publish CHECKOUT

do {
  let request = ReportRequest(CommandLine.arguments)
  try request.draw()
  try request.publish()
  exit(try request.compare())
} catch {
  FileHandle.standardError.write(Data("error: \(error)\n".utf8))
  exit(1)
}
