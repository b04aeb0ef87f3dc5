@testable import ModelRuntime
import Testing

@Suite struct `A list of results` {
  @Test(arguments: [0, 1, 47, 48, 49, 64, 65, 2304, 2305, 5000])
  func `is made of elements in order`(count: Int) {
    let tree = ResultTree(Array(0..<count))
    #expect(tree.count == count)
    #expect(tree.isEmpty == (count == 0))
    #expect(Array(tree) == Array(0..<count))
    #expect((0..<count).allSatisfy { tree[$0] == $0 })
  }

  @Test(arguments: [0, 1, 48, 3000])
  func `finds the place of what it has and of what it has not`(count: Int) {
    let tree = ResultTree((0..<count).map { $0 * 2 })
    for value in -1...(2 * count) {
      #expect(tree.position { $0 < value } == min(max((value + 1) / 2, 0), count))
    }
  }

  @Test(arguments: 0..<8)
  func `is what an array is after any sequence of changes`(seed: Int) {
    var numbers = RandomNumbers(seed: UInt64(seed))
    var array = Array(0..<[0, 10, 500, 5000][seed % 4])
    var tree = ResultTree(array)
    // Growing, shrinking to nothing, growing again.
    for (step, odds) in [(0, 8), (6000, 1), (14000, 6)].flatMap({ start in
      (start.0..<start.0 + 4000).map { ($0, start.1) }
    }) {
      if array.isEmpty || numbers.next(10) < odds {
        let place = numbers.next(array.count + 1)
        array.insert(step, at: place)
        tree.insert(step, at: place)
      } else {
        let place = numbers.next(array.count)
        array.remove(at: place)
        tree.remove(at: place)
      }
      if step % 500 == 0 { #expect(Array(tree) == array, "seed \(seed), step \(step)") }
      #expect(tree.count == array.count)
    }
    #expect(Array(tree) == array, "seed \(seed)")
    #expect(array.indices.allSatisfy { tree[$0] == array[$0] }, "seed \(seed)")
  }

  @Test func `leaves its copies as they were`() {
    let original = ResultTree(Array(0..<3000))
    var copy = original
    for place in stride(from: 2999, through: 0, by: -3) { copy.remove(at: place) }
    for number in 0..<100 { copy.insert(-number, at: number * 7) }
    #expect(Array(original) == Array(0..<3000))
    #expect(copy.count == 2100)
    var another = copy
    another.remove(at: 0)
    #expect(copy.count == 2100)
    #expect(another.count == 2099)
  }
}

/// Numbers that follow from a seed.
private struct RandomNumbers {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  mutating func next(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(truncatingIfNeeded: (state >> 33) % UInt64(bound))
  }
}
