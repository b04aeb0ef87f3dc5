import RowFormat

/// A list that is cheap to change at any position and to keep old versions of: a counted B-tree.
///
/// A copy shares its nodes with the original, and changing one of the two copies the nodes on the path to the
/// change, a few hundred words. So a list that was handed out never changes.
struct ResultTree<Element> {
  typealias Node = ResultTreeNode<Element>

  private(set) var root: Node

  init() { root = Node(entries: []) }

  /// Makes a list of elements in order.
  ///
  /// - Complexity: O(*n*).
  init(_ elements: some Collection<Element>) {
    var level: [Node] = []
    var rest = elements[...]
    while !rest.isEmpty {
      level.append(Node(entries: Array(rest.prefix(Node.packedCount))))
      rest = rest.dropFirst(Node.packedCount)
    }
    while level.count > 1 {
      level = stride(from: 0, to: level.count, by: Node.packedCount).map {
        Node(children: Array(level[$0..<Swift.min($0 + Node.packedCount, level.count)]))
      }
    }
    root = level.first ?? Node(entries: [])
  }

  var count: Int { root.count }
  var isEmpty: Bool { root.count == 0 }

  /// - Complexity: O(log *n*).
  subscript(position: Int) -> Element {
    let (start, elements) = neighbours(of: position)
    return elements[position - start]
  }

  /// Returns the elements around a position, and the position of the first of them, for a walk that reads them next.
  ///
  /// - Complexity: O(log *n*).
  func neighbours(of position: Int) -> (start: Int, elements: [Element]) {
    precondition(0..<count ~= position, "position \(position) of \(count) results")
    var node = root
    var offset = position
    while !node.isLeaf { node = node.children[node.child(at: &offset)] }
    return (position - offset, node.entries)
  }

  /// Returns the number of elements before a place, in a list ordered by the test.
  ///
  /// - Parameter isBefore: Whether an element comes before the place; false for all elements after the first false one.
  /// - Returns: The number of elements.
  /// - Complexity: O(log *n*) tests.
  func position(where isBefore: (Element) -> Bool) -> Int {
    var node = root
    var skipped = 0
    while !node.isLeaf {
      // The last child whose first element comes before the place.
      let child = Swift.max(node.children.partitionPoint { isBefore($0.first) } - 1, 0)
      skipped += node.children[..<child].reduce(0) { $0 + $1.count }
      node = node.children[child]
    }
    return skipped + node.entries.partitionPoint(isBefore)
  }

  /// - Complexity: O(log *n*).
  mutating func insert(_ element: Element, at position: Int) {
    precondition(0...count ~= position, "position \(position) of \(count) results")
    makeRootUnique()
    if let sibling = root.insert(element, at: position) { root = Node(children: [root, sibling]) }
  }

  /// - Complexity: O(log *n*).
  mutating func remove(at position: Int) {
    precondition(0..<count ~= position, "position \(position) of \(count) results")
    makeRootUnique()
    root.remove(at: position)
    while !root.isLeaf, root.children.count == 1 { root = root.children[0] }
  }

  private mutating func makeRootUnique() {
    if !isKnownUniquelyReferenced(&root) { root = root.copy() }
  }

  /// Whether two lists are unchanged versions of one list: certain if true.
  func isSame(as other: ResultTree) -> Bool { root === other.root }
}

extension ResultTree: Sequence {
  /// Walks the leaves, so that the whole list takes O(*n*).
  struct Iterator: IteratorProtocol {
    fileprivate var path: [(node: ResultTreeNode<Element>, next: Int)]

    mutating func next() -> Element? {
      while let (node, next) = path.last {
        if node.isLeaf {
          if next < node.entries.count {
            path[path.count - 1].next += 1
            return node.entries[next]
          }
        } else if next < node.children.count {
          path[path.count - 1].next += 1
          path.append((node.children[next], 0))
          continue
        }
        path.removeLast()
      }
      return nil
    }
  }

  func makeIterator() -> Iterator { Iterator(path: [(root, 0)]) }

  /// The elements from a position on.
  ///
  /// - Complexity: O(log *n*) to begin, and O(1) for each element.
  func elements(from position: Int) -> IteratorSequence<Iterator> {
    precondition(0...count ~= position, "position \(position) of \(count) results")
    var path: [(node: Node, next: Int)] = []
    var (node, offset) = (root, position)
    while !node.isLeaf {
      let child = node.child(at: &offset)
      path.append((node, child + 1))
      node = node.children[child]
    }
    path.append((node, offset))
    return IteratorSequence(Iterator(path: path))
  }

  var underestimatedCount: Int { count }
}

/// A leaf with elements, or an inner node with children; only a root that is a leaf may be empty.
final class ResultTreeNode<Element> {
  static var capacity: Int { 64 }
  /// The fill of nodes made from a whole list: it leaves room for changes everywhere.
  static var packedCount: Int { 48 }

  private(set) var entries: [Element]
  private(set) var children: [ResultTreeNode]
  private(set) var count: Int

  init(entries: [Element]) {
    self.entries = entries
    children = []
    count = entries.count
  }

  init(children: [ResultTreeNode]) {
    entries = []
    self.children = children
    count = children.reduce(0) { $0 + $1.count }
  }

  private init(copying other: ResultTreeNode) {
    entries = other.entries
    children = other.children
    count = other.count
  }

  func copy() -> ResultTreeNode { ResultTreeNode(copying: self) }

  var isLeaf: Bool { children.isEmpty }
  private var width: Int { isLeaf ? entries.count : children.count }

  /// Number of levels below: the same on each path.
  var height: Int { isLeaf ? 0 : children[0].height + 1 }

  fileprivate var first: Element {
    var node = self
    while !node.isLeaf { node = node.children[0] }
    return node.entries[0]
  }

  /// The child with a position, which becomes relative to the child; the last one also has the position after it.
  func child(at position: inout Int) -> Int {
    for index in children.indices.dropLast() {
      if position < children[index].count { return index }
      position -= children[index].count
    }
    return children.count - 1
  }

  /// - Returns: A new node to insert after this one, if this one was full.
  func insert(_ element: Element, at position: Int) -> ResultTreeNode? {
    count += 1
    if isLeaf {
      entries.insert(element, at: position)
    } else {
      var position = position
      let index = child(at: &position)
      makeUnique(index)
      if let sibling = children[index].insert(element, at: position) {
        children.insert(sibling, at: index + 1)
      }
    }
    return width > Self.capacity ? split() : nil
  }

  private func split() -> ResultTreeNode {
    let half = width / 2
    let sibling: ResultTreeNode
    if isLeaf {
      sibling = ResultTreeNode(entries: Array(entries[half...]))
      entries.removeSubrange(half...)
    } else {
      sibling = ResultTreeNode(children: Array(children[half...]))
      children.removeSubrange(half...)
    }
    count -= sibling.count
    return sibling
  }

  func remove(at position: Int) {
    count -= 1
    if isLeaf {
      entries.remove(at: position)
      return
    }
    var position = position
    let index = child(at: &position)
    makeUnique(index)
    children[index].remove(at: position)
    if children[index].count == 0 {
      children.remove(at: index)
    } else if index + 1 < children.count {
      join(index)
    } else if index > 0 {
      join(index - 1)
    }
  }

  /// Joins a child and the next, if they are small: otherwise a shrinking list would keep its height.
  private func join(_ index: Int) {
    let next = children[index + 1]
    guard children[index].width + next.width <= Self.capacity / 2 else { return }
    makeUnique(index)
    children[index].entries += next.entries
    children[index].children += next.children
    children[index].count += next.count
    children.remove(at: index + 1)
  }

  private func makeUnique(_ index: Int) {
    if !isKnownUniquelyReferenced(&children[index]) { children[index] = children[index].copy() }
  }
}
