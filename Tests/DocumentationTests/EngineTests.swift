import Foundation
import LogEngine
import Testing

// The snippet of LogEngine's first page, as it is printed there.

@Test func `an engine commits a row and finds it again`() throws {
  let folder = try TestFolder()
  let path = folder.url.appending(path: "Trips.sdlog").path

  let engine = try StorageEngine.open(at: path)
  try engine.apply([
    .addTable(name: "Trip"),
    .addColumn(table: 1, name: "name", type: .text, isNullable: false),
    .setLayout(table: 1, columns: [1]),
  ])

  var writer = RowWriter()
  writer.begin(RowLayout([.text]))
  writer.append(0, text: "Lisbon")
  _ = writer.finish()

  var batch = engine.makeBatch()
  let key = engine.reserveKeys(1, in: 1).lowerBound
  batch.insert(RowReference(table: 1, key: key), layout: LayoutNumber(1), row: writer.bytes)
  try engine.commit(&batch)
  try engine.close()

  let again = try StorageEngine.open(at: path)
  let layout = RowLayout([.text])
  let found = try again.withRow(RowReference(table: 1, key: key)) { row, _ in
    layout.text(0, in: row)
  }
  #expect(found == "Lisbon")
  try again.close()
}
