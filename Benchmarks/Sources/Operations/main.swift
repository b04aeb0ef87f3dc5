import Foundation

// Started by `Benchmarks/micro`, under callgrind where that is installed.
//
//   operation-counts --thresholds FILE [--dumps FILE] [--only WORD] [--update]

var options: [String: String] = [:]
var rest = CommandLine.arguments.dropFirst()
while let option = rest.popFirst() {
  options[option] = option == "--update" ? "" : rest.popFirst()
}

do {
  guard let path = options["--thresholds"] else { exit(64) }
  let isUpdate = options["--update"] != nil
  let operations = Operation.all.filter { operation in
    options["--only"].map { operation.name.contains($0) } ?? true
  }
  let thresholds = Thresholds(try String(contentsOfFile: path, encoding: .utf8))
  var lines = [
    "# What a thousand operations may cost; `Benchmarks/micro --update` writes this file.",
    "# operation\tallocations\tinstructions",
  ]
  var failures = 0
  for (index, operation) in operations.enumerated() {
    let cost = try Cost.count(operation, dumps: options["--dumps"], number: index + 1)
    let instructions = cost.instructions.map(String.init)
    let complaint = isUpdate ? nil : thresholds.complaint(operation.name, cost)
    if complaint != nil { failures += 1 }
    let figures = "\(cost.allocations) allocations, \(instructions ?? "no") instructions"
    print("\(operation.name): \(figures)\(complaint.map { ": \($0)" } ?? "")")
    // If nothing counts instructions, the old limit stays.
    let kept = instructions ?? thresholds.costs[operation.name]?.instructions.map(String.init)
    lines.append("\(operation.name)\t\(cost.allocations)\t\(kept ?? "-")")
  }
  if isUpdate {
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
  }
  print("\(operations.count) operations, \(failures) above their thresholds")
  exit(failures == 0 ? 0 : 1)
} catch {
  FileHandle.standardError.write(Data("error: \(error)\n".utf8))
  exit(1)
}
