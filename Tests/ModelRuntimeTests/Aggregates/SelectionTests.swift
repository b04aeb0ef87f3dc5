import Testing

@testable import ModelRuntime

@Suite struct `The value at a place of unordered values` {
  /// How values are arranged before one is selected.
  enum Arrangement: CaseIterable {
    case random, fewDifferent, equal, ascending, descending, infinite
    /// Against the median of three: each pivot is next to the least value.
    case killer

    func values(_ count: Int, using random: inout SeededGenerator) -> [Double] {
      switch self {
      case .random: (0..<count).map { _ in .random(in: -1e9...1e9, using: &random) }
      case .fewDifferent: (0..<count).map { _ in Double(Int.random(in: 0...3, using: &random)) }
      case .equal: Array(repeating: 7, count: count)
      case .ascending: (0..<count).map(Double.init)
      case .descending: (0..<count).reversed().map(Double.init)
      case .infinite:
        (0..<count).map { _ in
          [-.infinity, .infinity, 0, -0.0, .leastNonzeroMagnitude].randomElement(using: &random)
            ?? 0
        }
      case .killer:
        (0..<count).map { place in
          let half = count / 2
          if place < half { return Double(place.isMultiple(of: 2) ? place : half + place) }
          return Double(2 * (place - half) + 1)
        }
      }
    }
  }

  @Test(arguments: Arrangement.allCases, [1, 2, 3, 10, 1000])
  func `is the one that it has in order, and parts the others`(
    arrangement: Arrangement,
    count: Int
  ) {
    let seed = UInt64(count)
    var random = SeededGenerator(seed: seed)
    var values = arrangement.values(count, using: &random)
    let sorted = values.sorted()
    for place in Set([0, count / 3, count / 2, count - 1, .random(in: 0..<count, using: &random)]) {
      values.select(place)
      #expect(values[place] == sorted[place], "seed \(seed), place \(place)")
      #expect(values[..<place].allSatisfy { $0 <= values[place] })
      #expect(values[place...].allSatisfy { $0 >= values[place] })
    }
    #expect(values.sorted() == sorted)
  }

  @Test func `is nothing to look for among none`() {
    var values: [Double] = []
    values.select(0)
    #expect(values.isEmpty)
  }
}
