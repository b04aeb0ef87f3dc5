import CCounters
import Foundation

/// The cost of an operation in figures that do not depend on how busy the machine is.
struct Cost: Equatable {
  /// For a thousand operations.
  var allocations: Int
  /// For a thousand operations; `nil` if nothing counts them.
  var instructions: Int?

  /// Counts an operation's cost over a thousand of it, when a thousand before have warmed it up.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - dumps: The name of the files that callgrind writes, without their numbers.
  ///   - number: The number of files it has written with this one.
  /// - Returns: The cost.
  /// - Throws: What the operation throws.
  static func count(_ operation: Operation, dumps: String?, number: Int) throws -> Cost {
    let work = try operation.prepare()
    try work(1000)
    let before = allocation_count()
    try work(1000)
    let allocations = Int(allocation_count() - before)
    instructions_restart()
    try work(1000)
    guard instructions_dump() != 0, let dumps else { return Cost(allocations: allocations) }
    // The number of the thread follows, and this is the first one.
    let dump = try String(contentsOfFile: "\(dumps).\(number)-01", encoding: .utf8)
    return Cost(allocations: allocations, instructions: instructions(in: dump))
  }

  /// The instructions of the thread since the count began.
  ///
  /// Not the dump's totals, which add up what callgrind has noted for each function: beginning anew leaves some notes of
  /// earlier work behind, so they depend on the operations before.
  private static func instructions(in dump: String) -> Int? {
    let line = dump.split(separator: "\n").first { $0.hasPrefix("summary: ") }
    return line.flatMap { Int($0.dropFirst("summary: ".count)) }
  }
}

/// The thresholds of operations' costs: a line for each, kept beside the code.
struct Thresholds {
  private(set) var costs: [String: Cost] = [:]

  /// The ratio by which instructions may grow: a compiler's patch release moves a few.
  static let tolerance = 1.05

  /// Reads lines of a name, allocations and instructions between tabs.
  ///
  /// - Parameter text: The lines; those that begin with # are remarks.
  init(_ text: String) {
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let fields = line.split(separator: "\t")
      guard fields.count == 3, let allocations = Int(fields[1]) else { continue }
      costs[String(fields[0])] = Cost(allocations: allocations, instructions: Int(fields[2]))
    }
  }

  /// Returns the fault of a cost; `nil` if it has none.
  func complaint(_ name: String, _ cost: Cost) -> String? {
    guard let limit = costs[name] else { return "has no threshold; run with --update" }
    if cost.allocations > limit.allocations {
      return "allocates \(cost.allocations) times in a thousand, \(limit.allocations) are allowed"
    }
    guard let instructions = cost.instructions, let most = limit.instructions,
      Double(instructions) > Double(most) * Self.tolerance
    else { return nil }
    return "takes \(instructions) instructions for a thousand, \(most) and 5 % are allowed"
  }
}
