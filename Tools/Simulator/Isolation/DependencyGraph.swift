/// The order of saves and fetches, with the reason for each edge.
struct DependencyGraph {
  enum Edge: String { case ww, wr, rw, time }

  private var successors: [[(node: Int, edge: Edge)]]

  init(count: Int) { successors = Array(repeating: [], count: count) }

  mutating func addNode() -> Int {
    successors.append([])
    return successors.count - 1
  }

  mutating func add(_ from: Int, _ to: Int, _ edge: Edge) {
    if from != to { successors[from].append((to, edge)) }
  }

  /// A short circle in each knot of the graph; none, if there is an order.
  ///
  /// - Complexity: O(nodes + edges): a circle is looked for through a few nodes of each knot.
  func circles() -> [[(node: Int, edge: Edge)]] {
    components().compactMap { component in
      let members = Set(component)
      return component.prefix(8).compactMap { shortestCircle(through: $0, in: members) }
        .min { $0.count < $1.count }
    }
  }

  private func shortestCircle(
    through start: Int,
    in members: Set<Int>
  ) -> [(node: Int, edge: Edge)]? {
    var cameFrom: [Int: (node: Int, edge: Edge)] = [:]
    var queue = [start]
    var next = 0
    while next < queue.count {
      let node = queue[next]
      next += 1
      for (successor, edge) in successors[node] where members.contains(successor) {
        if successor == start {
          var circle = [(node: node, edge: edge)]
          var current = node
          while current != start, let step = cameFrom[current] {
            circle.append(step)
            current = step.node
          }
          return circle.reversed()
        }
        if cameFrom[successor] == nil {
          cameFrom[successor] = (node, edge)
          queue.append(successor)
        }
      }
    }
    return nil
  }

  /// The sets of nodes that all reach each other, of more than one node (Tarjan, without recursion).
  private func components() -> [[Int]] {
    var result: [[Int]] = []
    var index = Array(repeating: -1, count: successors.count)
    var low = index
    var onStack = Array(repeating: false, count: successors.count)
    var stack: [Int] = []
    var counter = 0
    for root in successors.indices where index[root] < 0 {
      var work: [(node: Int, next: Int)] = [(root, 0)]
      while let (node, next) = work.last {
        if next == 0 {
          index[node] = counter
          low[node] = counter
          counter += 1
          stack.append(node)
          onStack[node] = true
        }
        if next < successors[node].count {
          work[work.count - 1].next += 1
          let successor = successors[node][next].node
          if index[successor] < 0 {
            work.append((successor, 0))
          } else if onStack[successor] {
            low[node] = min(low[node], index[successor])
          }
          continue
        }
        work.removeLast()
        if let parent = work.last { low[parent.node] = min(low[parent.node], low[node]) }
        guard low[node] == index[node] else { continue }
        var component: [Int] = []
        while let member = stack.popLast() {
          onStack[member] = false
          component.append(member)
          if member == node { break }
        }
        if component.count > 1 { result.append(component) }
      }
    }
    return result
  }
}
