import Foundation
import Testing

@testable import ModelRuntime
@testable import PostgresStore

@Model private final class Paper {
  var title: String = "seven b"
  var text: String? = "nine byte"
  var pages: [Int] = [1, 2, 3]
  @Attribute(.externalStorage) var scan: Data = Data([1, 2, 3, 4, 5, 6, 7, 8])
  init() {}
}

@Suite struct `A value that is too large for a message to the server` {
  private func write(limit: Int) throws {
    let descriptor = ModelDescriptor.of(Paper.self)
    let table = try MappedTable(number: 1, descriptor, namespace: "n", valueLimit: limit)
    let run = RowRun(.insert, table, table.columns, dates: [])
    let row = descriptor.defaultRow()
    try row.withUnsafeBytes { try run.add(table.references.lowerBound, 0, $0.bytes) }
  }

  private func property(refusedAt limit: Int) -> String? {
    do {
      try write(limit: limit)
      return nil
    } catch PostgresStoreError.unstorableValue("Paper", let property, 0, let reason) {
      #expect(reason.contains("a gigabyte"))
      return property
    } catch {
      Issue.record(error)
      return nil
    }
  }

  @Test func `is refused by the name of its property`() {
    #expect(property(refusedAt: 6) == "title")
    #expect(property(refusedAt: 8) == "text")
    // Together, with the length of each; text of jsonb.
    #expect(property(refusedAt: 14) != nil)
    #expect(property(refusedAt: 40) != nil)
    #expect(property(refusedAt: 100) == nil)
  }
}
