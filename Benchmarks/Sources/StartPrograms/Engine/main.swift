import LogEngine
import RowFormat

// A program that opens a store by the engine alone and reads a row; makes the store where there is none.
var options = EngineOptions()
options.durability = .relaxed(interval: .seconds(1))
let engine = try StorageEngine.open(at: CommandLine.arguments[1], options: options)
let row = RowReference(table: 1, key: 1)
if engine.catalogue.table(1) == nil {
  let catalogue = try engine.apply([
    .addTable(name: "Visit"),
    .addColumn(table: 1, name: "rating", type: .integer, isNullable: false),
    .setLayout(table: 1, columns: [1]),
  ])
  let keys = engine.reserveKeys(1, in: 1)
  var batch = engine.makeBatch()
  let layout = catalogue.tables[0].layouts[0]
  var writer = RowWriter()
  writer.begin(layout.layout)
  writer.set(0, integer: 7)
  let bytes = writer.finish()
  batch.insert(
    RowReference(table: 1, key: keys.lowerBound),
    layout: layout.number,
    row: writer.bytes.extracting(bytes)
  )
  try engine.commit(&batch)
  try engine.close()
}
print(try engine.contains(row) ? "row" : "nothing")
