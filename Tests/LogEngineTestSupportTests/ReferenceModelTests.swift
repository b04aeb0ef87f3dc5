import LogEngine
import LogEngineTestSupport
import RowFormat
import Testing

@Suite struct `The reference model` {
  @Test func `allows after a power cut what was promised to survive and what was begun`() {
    var model = ReferenceModel()
    model.issue(content(1))
    model.acknowledge(isDurable: true)
    model.issue(content(2))
    model.acknowledge(isDurable: false)
    model.issue(content(3))
    #expect(model.promise.afterPowerCut == 1...3)
    #expect(model.promise.afterProcessEnd == 2...3)
    #expect(model.states[2] == content(2))
  }

  @Test func `goes on from the commit that was recovered`() {
    var model = ReferenceModel()
    for key in 1...3 as ClosedRange<UInt64> {
      model.issue(content(key))
      model.acknowledge(isDurable: key == 1)
    }
    model.adopt(2, isDurable: true)
    #expect(model.promise.afterPowerCut == 2...2)
    #expect(model.newest == content(2))
  }

  @Test func `knows what a list of changes leaves`() {
    let row = StoredRow(layout: LayoutNumber(1), bytes: [1])
    let other = StoredRow(layout: LayoutNumber(1), bytes: [2])
    let (first, second) = (RowReference(table: 1, key: 1), RowReference(table: 1, key: 2))
    var content = StoreContent()
    content.apply(.insert(first, row))
    content.apply(.insert(second, row))
    content.apply(.update(first, changed: .all, other))
    content.apply(.delete(second))
    #expect(content.rows == [first: other])
    #expect(content.usedKeys == [1: [1, 2]])
  }

  @Test func `gives a table's old layout its old number back`() {
    var content = StoreContent()
    content.apply(.addTable(name: "A"))
    for name in ["x", "y"] {
      content.apply(.addColumn(table: 1, name: name, type: .integer, isNullable: true))
    }
    for columns in [[1, 2], [2], [1, 2]] as [[UInt16]] {
      content.apply(.setLayout(table: 1, columns: columns))
    }
    #expect(content.tables[0].layouts == [[1, 2], [2]])
    #expect(content.tables[0].currentLayout == LayoutNumber(1))
  }

  private func content(_ key: UInt64) -> StoreContent {
    var content = StoreContent()
    let row = StoredRow(layout: LayoutNumber(1), bytes: [UInt8(key)])
    content.apply(.insert(RowReference(table: 1, key: key), row))
    return content
  }
}
