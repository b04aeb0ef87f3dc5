import LogFormat
import Testing

@Suite struct `A selection of rows` {
  @Test(arguments: [1, 63, 64, 65, 127, 128, 200])
  func `takes in any range of rows, beside those it has`(count: Int) {
    for start in 0...count {
      for end in start...count {
        var rows = RowSelection()
        rows.selectAll(count)
        rows.removeAll()
        rows.select(0..<1)
        rows.select(start..<end)
        let wanted = (0..<count).filter { $0 == 0 || start..<end ~= $0 }
        var selected: [Int] = []
        rows.forEach { selected.append($0) }
        #expect(selected == wanted, "\(start)..<\(end)")
      }
    }
  }
}
