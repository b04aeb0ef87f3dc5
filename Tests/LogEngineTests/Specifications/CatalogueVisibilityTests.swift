import Locking
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A change of the catalogue` {
  /// Appends a change to the log, and leaves it to be written.
  private func append(_ changes: [CatalogueChange], to engine: StorageEngine) throws {
    var body = ByteBuffer()
    for change in changes { change.encode(into: &body) }
    var batch = engine.makeBatch()
    batch.changeCatalogue(body.bytes, to: try CatalogueVersion(changes, of: engine.catalogue))
    try batch.finish(microseconds: 0)
    guard
      case .appended = try engine.state.log.tail.withLock({ try $0.append(&batch, engine.state) })
    else {
      Issue.record("the change was not appended")
      return
    }
  }

  @Test func `shows with its commit, and not before`() throws {
    let store = try SmallStore()
    try store.insert([(1, "a")])
    let engine = try #require(store.engine)
    try append([.addColumn(table: 1, name: "more", type: .integer, isNullable: true)], to: engine)
    #expect(engine.catalogue.table(1)?.column(named: "more") == nil)
    try engine.synchronize()
    #expect(engine.catalogue.table(1)?.column(named: "more") != nil)
    #expect(engine.makeReadView().catalogue == engine.catalogue)
  }

  @Test func `that removes a table ends it for writers first and then for readers`() throws {
    let store = try SmallStore()
    let key = try store.insert([(1, "a")])[0]
    let engine = try #require(store.engine)
    let view = engine.makeReadView()
    var late = engine.makeBatch()
    late.delete(RowReference(table: 1, key: key))
    try append([.removeTable(1)], to: engine)
    #expect(engine.rowCount(of: 1) == 1)
    #expect(try engine.contains(RowReference(table: 1, key: key)))
    #expect(throws: StorageError.unknownTable(1)) { try engine.commit(&late) }
    try engine.synchronize()
    #expect(engine.rowCount(of: 1) == 0)
    #expect(try !engine.contains(RowReference(table: 1, key: key)))
    #expect(try view.contains(RowReference(table: 1, key: key)))
  }
}
