/// The saves and fetches of a run's threads, each with the time it took.
///
/// A save writes registers, each time another value; a fetch reads some of them. Each is one node of a graph, and each
/// edge says that one came before another:
///
/// - *ww*: a save wrote the value that another replaced;
/// - *wr*: a save wrote the value that a fetch read;
/// - *rw*: a fetch read the value that a save replaced;
/// - *time*: one had ended before the other began.
///
/// Saves that are one commit and fetches that see one snapshot can be put in an order; so a circle is a violation. (Adya's
/// phenomena, found as Jepsen's Elle finds them.)
struct IsolationHistory: Sendable {
  struct Save: Sendable {
    var writes: [Int: Int]
    /// Values that the context showed before the save, and that were replaced in it: no other context may see them.
    var intermediate: [Int: Int] = [:]
    var begin: UInt64
    var end: UInt64
    /// Whether the save returned; one that threw has written nothing.
    var isCommitted: Bool
  }

  struct Fetch: Sendable {
    var reads: [Int: Int]
    var begin: UInt64
    var end: UInt64
  }

  var saves: [Save] = []
  var fetches: [Fetch] = []
  /// The values of each register, in the order in which they were committed.
  var versions: [Int: [Int]] = [:]

  /// A phenomenon that must not occur.
  enum Phenomenon: String, Sendable {
    /// Saves overwrite each other in circles.
    case dirtyWrite = "G0"
    /// A fetch saw a value of a save that threw.
    case abortedRead = "G1a"
    /// A fetch saw a value that was replaced before its save.
    case intermediateRead = "G1b"
    /// Saves and fetches depend on each other in circles.
    case circularFlow = "G1c"
    /// A fetch missed a part of a save of which it saw another.
    case readSkew = "G-single"
    /// Several fetches contradict each other.
    case antidependency = "G2"
    /// A fetch saw a value that no save wrote, or a committed value is missing from the order.
    case unknownValue = "unknown value"
  }

  struct Finding: Error, CustomStringConvertible, Sendable {
    var phenomenon: Phenomenon
    var message: String
    var description: String { "\(phenomenon.rawValue): \(message)" }
  }

  private struct Written: Hashable {
    var register: Int
    var value: Int
  }

  /// Finds the phenomena; none, if there is an order of all saves and fetches.
  ///
  /// - Complexity: O(saves + fetches + values read and written), but for sorting.
  func findings() -> [Finding] {
    var findings: [Finding] = []
    var writers: [Written: Int] = [:]
    var aborted: Set<Written> = []
    var intermediate: Set<Written> = []
    for (number, save) in saves.enumerated() {
      for (register, value) in save.writes {
        let written = Written(register: register, value: value)
        if save.isCommitted { writers[written] = number } else { aborted.insert(written) }
      }
      for (register, value) in save.intermediate {
        intermediate.insert(Written(register: register, value: value))
      }
    }
    var places: [Written: Int] = [:]
    for (register, values) in versions {
      for (place, value) in values.enumerated() {
        places[Written(register: register, value: value)] = place
      }
    }
    var graph = DependencyGraph(count: saves.count + fetches.count)
    for (register, values) in versions {
      for (first, second) in zip(values, values.dropFirst()) {
        guard let one = writers[Written(register: register, value: first)],
          let other = writers[Written(register: register, value: second)]
        else { continue }
        graph.add(one, other, .ww)
      }
    }
    for (number, fetch) in fetches.enumerated() {
      let node = saves.count + number
      for (register, value) in fetch.reads {
        let read = Written(register: register, value: value)
        if aborted.contains(read) {
          findings.append(
            Finding(phenomenon: .abortedRead, message: "register \(register) was read as \(value)")
          )
        } else if intermediate.contains(read) {
          findings.append(
            Finding(
              phenomenon: .intermediateRead,
              message: "register \(register) was read as \(value)"
            )
          )
        }
        guard let place = places[read] else {
          findings.append(
            Finding(
              phenomenon: .unknownValue,
              message: "register \(register) was read as \(value), which was not committed"
            )
          )
          continue
        }
        if let writer = writers[read] { graph.add(writer, node, .wr) }
        let values = versions[register] ?? []
        if place + 1 < values.count,
          let next = writers[Written(register: register, value: values[place + 1])]
        {
          graph.add(node, next, .rw)
        }
      }
    }
    addTimes(to: &graph)
    return findings + graph.circles().map(finding)
  }

  /// Adds edges from nodes that had ended to nodes that began later: not for every pair, but through a chain of moments.
  private func addTimes(to graph: inout DependencyGraph) {
    let spans =
      saves.enumerated().filter(\.element.isCommitted).map {
        ($0.offset, $0.element.begin, $0.element.end)
      }
      + fetches.enumerated().map { (saves.count + $0.offset, $0.element.begin, $0.element.end) }
    let ends = spans.sorted { $0.2 < $1.2 }
    let begins = spans.sorted { $0.1 < $1.1 }
    var moment: Int?
    var next = 0
    for (node, begin, _) in begins {
      while next < ends.count, ends[next].2 < begin {
        let later = graph.addNode()
        if let moment { graph.add(moment, later, .time) }
        graph.add(ends[next].0, later, .time)
        moment = later
        next += 1
      }
      if let moment { graph.add(moment, node, .time) }
    }
  }

  private func finding(_ circle: [(node: Int, edge: DependencyGraph.Edge)]) -> Finding {
    let kinds = circle.map(\.edge)
    let reverse = kinds.count { $0 == .rw }
    let phenomenon: Phenomenon =
      if reverse > 1 { .antidependency } else if reverse == 1 {
        .readSkew
      } else if kinds.contains(.wr) { .circularFlow } else { .dirtyWrite }
    let text = circle.filter { $0.node < saves.count + fetches.count }.map {
      $0.node < saves.count
        ? "save \(saves[$0.node].writes.sorted { $0.key < $1.key }.map { "\($0)=\($1)" })"
        : "fetch \(fetches[$0.node - saves.count].reads.sorted { $0.key < $1.key }.map { "\($0)=\($1)" })"
    }
    return Finding(
      phenomenon: phenomenon,
      message: zip(text, kinds).map { "\($0) –\($1)→" }.joined(separator: " ")
    )
  }
}
