import Foundation
import ModelRuntime
import RowFormat
import Testing

/// A store of rows that computes nothing, and is never written to.
private final class PlainRowStore: RowStore {
  struct Configuration: DataStoreConfiguration {
    typealias Store = PlainRowStore
    var name = "plain"
    var schema: Schema?
  }

  typealias Snapshot = DefaultSnapshot

  struct Unused: Error {}

  let configuration: Configuration
  let identifier = "plain"
  let schema: Schema
  let allowsSave = true

  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    schema = configuration.schema ?? Schema()
  }

  func table(forEntityNamed name: String) -> UInt16? { 1 }
  func reserveKeys(_ count: Int, inTable table: UInt16) throws -> Range<UInt64> { throw Unused() }
  func reserveRanks(_ count: Int) throws -> Range<Int64> { throw Unused() }
  func saveRows(
    for editingState: EditingState,
    _ body: (any RowChangeSink) throws -> Void
  ) throws -> (any HistoryToken)? { throw Unused() }
  func fetchRows<T>(_ request: DataStoreFetchRequest<T>) throws -> [FetchedRow] { throw Unused() }
  func rows(at references: [RowReference]) throws -> [FetchedRow?] { throw Unused() }
  func rows(
    referringTo target: RowReference,
    inTable table: UInt16,
    column: Int
  ) throws -> [ReferringRow] { throw Unused() }
  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { throw Unused() }
  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { throw Unused() }
}

@Model private final class Dated {
  var name = ""
  @Derived(.modificationDate) var lastModified: Date?
  init() {}
}

@Model private final class Undated {
  var name = ""
  init() {}
}

@Suite struct `A store of rows that computes no derived attributes` {
  @Test func `refuses models that have some, by name`() throws {
    #expect {
      try ModelContainer(
        for: Schema([Dated.self]),
        configurations: [PlainRowStore.Configuration()]
      )
    } throws: {
      $0 as? SwiftDataError == .invalidSchema && "\($0)".contains("Dated.lastModified")
        && "\($0)".contains("PlainRowStore")
    }
  }

  @Test func `a store without derivations takes models without derived attributes`() throws {
    _ = try ModelContainer(
      for: Schema([Undated.self]),
      configurations: [PlainRowStore.Configuration()]
    )
  }
}
