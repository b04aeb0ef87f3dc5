import ModelRuntime
import RowFormat
import Testing

@testable import LogFormat
@testable import LogStore

@Suite struct `A sum of doubles` {
  /// A selection of some rows of so many.
  private func selection(_ count: Int, _ isSelected: (Int) -> Bool = { _ in true }) -> RowSelection
  {
    var rows = RowSelection()
    rows.selectAll(count)
    for row in 0..<count where !isSelected(row) { rows.drop(row) }
    return rows
  }

  private func sum(_ values: [Double], _ rows: RowSelection) -> Double {
    var sum = CompensatedSum()
    sum.add(values.span, rows)
    return sum.value
  }

  @Test(arguments: [0, 1, 63, 64, 65, 128, 1000, 4096])
  func `is exact where the numbers are whole, whichever rows are selected`(count: Int) {
    let seed = UInt64(count)
    var random = SeededRandom(seed: seed)
    for gap in [0, 2, 70, 300] {
      // Their sum as doubles, added in turn, would be off by thousands.
      let values = (0..<count).map { _ in
        Double(Int64.random(in: -1 << 52...1 << 52, using: &random))
      }
      let rows = selection(count) { gap == 0 || $0 % gap != gap - 1 }
      var exact: Int128 = 0
      for row in 0..<count where rows.contains(row) { exact += Int128(values[row]) }
      #expect(
        sum(values, rows) == Double(exact),
        "seed \(seed), \(count) rows, every \(gap)th left out"
      )
    }
  }

  @Test func `loses nothing that small numbers add to great ones`() {
    var values = [Double](repeating: 1e-3, count: 6400)
    for place in stride(from: 0, to: values.count, by: 10) {
      values[place] = place % 20 == 0 ? 1e17 : -1e17
    }
    let small = Double(values.count * 9 / 10) * 1e-3
    #expect(abs(sum(values, selection(values.count)) - small) < 1e-9)
  }

  @Test(arguments: [[Double.infinity], [-.infinity], [.infinity, -.infinity], [.nan]])
  func `is what plain additions come to where a number is not finite`(special: [Double]) {
    var values = [Double](repeating: 1.5, count: 256)
    for (place, value) in special.enumerated() { values[7 + 65 * place] = value }
    let rows = selection(values.count)
    let (found, expected) = (sum(values, rows), values.reduce(0, +))
    #expect(found == expected || found.isNaN && expected.isNaN)
  }

  @Test(arguments: [[0, 1, 4, 5], [0, 2, 5, 7], [0, 64, 1, 65]])
  func `does not overflow where additions in turn do not`(places: [Int]) {
    var values = [Double](repeating: 0, count: 128)
    for (turn, place) in places.sorted().enumerated() {
      values[place] = turn % 2 == 0 ? .greatestFiniteMagnitude : -.greatestFiniteMagnitude
    }
    #expect(sum(values, selection(128)) == 0)
  }

  @Test func `is the same each time`() {
    var random = SeededRandom(seed: 4)
    let values = (0..<5000).map { _ in Double.random(in: -1e9...1e9, using: &random) }
    let rows = selection(values.count) { $0 % 113 != 5 }
    #expect(Set((0..<10).map { _ in sum(values, rows).bitPattern }).count == 1)
  }
}
