import Foundation

// The cost of Foundation beside the runtime of Swift: one date and one folder, as a program with models has.
let folder = URL(fileURLWithPath: CommandLine.arguments[1])
print(Date.now > .distantPast && !folder.path.isEmpty ? "row" : "nothing")
