import Foundation
import Harness
import Reporting

// Started by `Benchmarks/run` behind the groups: draws, and compares.
//
//   benchmark-report --results FILE [--latencies FILE --out FOLDER --command TEXT --toolchain TEXT
//                    --folder FOLDER] [--compare OLD.json]

do {
  let request = ReportRequest(CommandLine.arguments)
  try request.draw()
  exit(try request.compare())
} catch {
  FileHandle.standardError.write(Data("error: \(error)\n".utf8))
  exit(1)
}
