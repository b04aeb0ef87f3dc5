import Foundation
import Harness

// Started by `Benchmarks/growth`.
//
//   growth-check [--only WORD] [--counts N,N,N] [--limit X]

var options: [String: String] = [:]
var rest = CommandLine.arguments.dropFirst()
while let option = rest.popFirst() { options[option] = rest.popFirst() ?? "" }

let counts = (options["--counts"] ?? "1000,10000,100000").split(separator: ",").compactMap {
  Int($0)
}
let limit = options["--limit"].flatMap(Double.init) ?? 1.15
let chosen = Growth.all.filter { growth in
  options["--only"].map { growth.name.contains($0) } ?? true
}
guard counts.count >= 2, counts == counts.sorted(), let least = counts.first, least > 0,
  !chosen.isEmpty
else {
  FileHandle.standardError.write(Data("error: nothing to measure; try --help\n".utf8))
  exit(64)
}

var failures = 0
do {
  for growth in chosen {
    let curve = try Curve(growth, counts: counts)
    let isSteep = curve.exponent > limit
    if isSteep { failures += 1 }
    let costs = curve.points.map { point in
      Figure.format(point.nanoseconds / Double(point.count)).padded(to: 9)
    }
    let exponent = String(format: "%.2f", curve.exponent)
    let verdict = isSteep ? "  above \(limit)" : ""
    let remark = curve.isCutShort ? ", the greatest number left out" : ""
    print(growth.name.padding(toLength: 58, withPad: " ", startingAt: 0), terminator: "")
    print("\(costs.joined()) ns each, exponent \(exponent)\(verdict)\(remark)")
    fflush(nil)
  }
} catch {
  FileHandle.standardError.write(Data("error: \(error)\n".utf8))
  exit(1)
}
print("\(chosen.count) operations, \(failures) above an exponent of \(limit)")
exit(failures == 0 ? 0 : 1)

extension String {
  fileprivate func padded(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
}
