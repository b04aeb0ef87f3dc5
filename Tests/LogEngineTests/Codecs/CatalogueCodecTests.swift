import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

/// One of each change.
private let changes: [CatalogueChange] = [
  .addTable(name: "Trip"),
  .addTable(name: "Ställe"),
  .addTable(name: "short-lived"),
  .addColumn(table: 1, name: "name", type: .text, isNullable: false),
  .addColumn(table: 1, name: "when", type: .date, isNullable: true),
  .addColumn(table: 1, name: "gone", type: .blob, isNullable: true),
  .setLayout(table: 1, columns: [1, 2, 3]),
  .setLayout(table: 1, columns: [2, 1]),
  .renameTable(2, to: "Stop"),
  .removeTable(3),
  .renameColumn(table: 1, column: 1, to: "title"),
  .retireColumn(table: 1, column: 3),
  .setMetadata(key: "schema", value: [1, 2, 3]),
]

private func makeCatalogue() throws -> Catalogue {
  var catalogue = Catalogue()
  for change in changes { try catalogue.apply(change) }
  return catalogue
}

@Suite struct `A list of catalogue changes` {
  private let encoded = DamagedBytes { buffer in
    for change in changes { change.encode(into: &buffer) }
  }

  @Test func `a list of catalogue changes reads back as it was written`() {
    let found = CatalogueChange.decodeList(encoded.bytes.span.bytes)
    #expect(found == changes)
  }

  @Test func `that is damaged is refused, or changes a catalogue or not, and no more`() {
    func check(_ bytes: [UInt8]) {
      guard let list = CatalogueChange.decodeList(bytes.span.bytes) else { return }
      var catalogue = Catalogue()
      do {
        for change in list { try catalogue.apply(change) }
      } catch {
        return
      }
      let again = DamagedBytes { catalogue.encode(into: &$0) }
      var cursor = ByteCursor(again.bytes.indices)
      let found = Catalogue(decoding: again.bytes.span.bytes, &cursor)
      #expect(found == catalogue)
    }
    encoded.forEachFlip { damaged, _ in check(damaged) }
    encoded.forEachForgery { damaged, _ in check(damaged) }
    encoded.forEachCut { check($0) }
  }
}

@Suite struct `A whole catalogue` {
  private func decode(_ bytes: [UInt8]) -> Catalogue? {
    var cursor = ByteCursor(bytes.indices)
    return Catalogue(decoding: bytes.span.bytes, &cursor)
  }

  @Test func `a whole catalogue reads back as it was written`() throws {
    let catalogue = try makeCatalogue()
    let encoded = DamagedBytes { catalogue.encode(into: &$0) }
    #expect(decode(encoded.bytes) == catalogue)
    #expect(catalogue.tables.count == 2 && catalogue.nextTableNumber == 4)
    #expect(catalogue.table(1)?.currentLayout == LayoutNumber(2))
  }

  @Test func `that is cut is refused`() throws {
    let catalogue = try makeCatalogue()
    let encoded = DamagedBytes { catalogue.encode(into: &$0) }
    #expect(acceptedCuts(of: encoded) { decode($0) != nil } == [])
  }

  @Test func `that is damaged is refused, or is one that can be written again`() throws {
    let catalogue = try makeCatalogue()
    let encoded = DamagedBytes { catalogue.encode(into: &$0) }
    func check(_ bytes: [UInt8]) {
      guard let found = decode(bytes) else { return }
      let again = DamagedBytes { found.encode(into: &$0) }
      #expect(decode(again.bytes) == found)
    }
    encoded.forEachFlip { damaged, _ in check(damaged) }
    encoded.forEachForgery { damaged, _ in check(damaged) }
  }
}
