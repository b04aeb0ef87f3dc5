import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A row that changes a little, many times` {
  @Test(arguments: [1, 2, 5])
  func `never has more changes below it than the bound`(longest: Int) throws {
    var options = EngineOptions()
    options.background = .caller
    options.longestChain = longest
    let disk = InMemoryFileSystem()
    let engine = try StorageEngine.open(at: "store", options: options, fileSystem: disk)
    try engine.apply(MemoryStore.tableChanges)
    let key = engine.reserveKeys(1, in: 1).lowerBound
    let reference = RowReference(table: 1, key: key)
    // So long that the changes weigh nothing beside it: their number alone ends a chain.
    let text = String(repeating: "row ", count: 4000)
    var depths: [Int] = []
    for number in 0..<20 {
      var writer = RowWriter()
      writer.begin(MemoryStore.layout)
      writer.set(0, integer: Int64(number))
      writer.append(1, text: text)
      let range = writer.finish()
      var batch = engine.makeBatch()
      let row = writer.bytes.extracting(range)
      if number == 0 {
        batch.insert(reference, layout: LayoutNumber(1), row: row)
      } else {
        var changed = ColumnSet()
        changed.insert(0)
        batch.update(reference, layout: LayoutNumber(1), changed: changed, row: row)
      }
      try engine.commit(&batch)
      let place = try #require(engine.state.tables[1]?.pages.location(of: key).place)
      depths.append(Int(try engine.state.header(at: place, of: reference).depth))
    }
    #expect(depths == (0..<20).map { $0 % (longest + 1) })
  }
}
