@testable import ModelRuntime
import Testing

@Suite struct `The difference of two lists` {
  @Test(arguments: 0..<12)
  func `leads from one version to another after any sequence of changes`(seed: Int) {
    var numbers = SeededNumbers(seed: UInt64(seed))
    var array = Array(0..<[0, 10, 500, 5000][seed % 4])
    var tree = ResultTree(array)
    var next = array.count
    for round in 0..<150 {
      let (former, formerTree) = (array, tree)
      // Growing and shrinking, so that nodes are split and joined.
      let odds = round / 30 % 2 == 0 ? 8 : 2
      for _ in 0..<[1, 3, 200][numbers.next(3)] {
        let chance = array.isEmpty ? 0 : numbers.next(12)
        switch chance {
        case 10, 11:
          let value = array.remove(at: numbers.next(array.count))
          tree.remove(at: position(of: value, in: tree))
          let place = numbers.next(array.count + 1)
          array.insert(value, at: place)
          tree.insert(value, at: place)
        case odds...:
          let place = numbers.next(array.count)
          array.remove(at: place)
          tree.remove(at: place)
        default:
          let place = numbers.next(array.count + 1)
          array.insert(next, at: place)
          tree.insert(next, at: place)
          next += 1
        }
      }
      let difference = difference(from: formerTree, to: tree)
      let changes = difference.changes(from: former, to: array)
      #expect(former.applying(changes) == array, "seed \(seed), round \(round)")
      let gone = Set(former).subtracting(array).count
      #expect(difference.removals.count >= gone, "seed \(seed), round \(round)")
      for case .insert(let offset, let value, let origin) in changes {
        #expect(array[offset] == value)
        #expect(origin == former.firstIndex(of: value), "seed \(seed), round \(round)")
      }
    }
  }

  @Test(arguments: [1, 3, 1000, 100_000])
  func `is one step for one that came or went, and two for one that moved`(count: Int) {
    let former = ResultTree(Array(0..<count))
    var tree = former
    tree.insert(-1, at: count / 2)
    var found = difference(from: former, to: tree)
    #expect(found.removals.isEmpty)
    #expect(found.insertions.map(\.offset) == [count / 2])
    tree = former
    tree.remove(at: count / 3)
    found = difference(from: former, to: tree)
    #expect(found.removals.map(\.offset) == [count / 3])
    #expect(found.insertions.isEmpty)
    tree.insert(count / 3, at: count - 1)
    found = difference(from: former, to: tree)
    #expect(found.removals.count == (count == 1 ? 0 : 1))
    #expect(found.insertions.map(\.offset) == (count == 1 ? [] : [count - 1]))
  }

  @Test func `looks at few elements where few changed`() {
    let former = ResultTree(Array(0..<100_000))
    var tree = former
    tree.remove(at: 17)
    tree.insert(17, at: 99_000)
    var seen = 0
    tree.forEachGap(since: former) { old, _, new, _ in seen += old.count + new.count }
    #expect(seen < 300)
    tree.forEachGap(since: tree) { _, _, _, _ in Issue.record("the same list differs") }
  }

  @Test(arguments: 0..<8)
  func `is as small as can be for lists that share nothing`(seed: Int) {
    var numbers = SeededNumbers(seed: UInt64(seed))
    for _ in 0..<50 {
      let old = Array(0..<numbers.next(40)).shuffled(using: &numbers)
      let new = Array(0..<numbers.next(40)).shuffled(using: &numbers)
      var found = KeyedDifference<Int>()
      found.add(old, at: 0, new, at: 0)
      let smallest = new.difference(from: old)
      #expect(found.removals.count == smallest.removals.count, "seed \(seed)")
      #expect(found.insertions.count == smallest.insertions.count, "seed \(seed)")
      #expect(old.applying(found.changes(from: old, to: new)) == new, "seed \(seed)")
    }
  }
}

private func position(of value: Int, in tree: ResultTree<Int>) -> Int {
  tree.enumerated().first { $0.element == value }?.offset ?? 0
}

private func difference(from former: ResultTree<Int>, to tree: ResultTree<Int>) -> KeyedDifference<
  Int
> {
  var difference = KeyedDifference<Int>()
  tree.forEachGap(since: former) { difference.add($0, at: $1, $2, at: $3) }
  return difference
}

/// Numbers that follow from a seed.
private struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state &* 0x2545_F491_4F6C_DD1D
  }

  mutating func next(_ bound: Int) -> Int {
    Int(truncatingIfNeeded: (next() >> 33) % UInt64(bound))
  }
}
