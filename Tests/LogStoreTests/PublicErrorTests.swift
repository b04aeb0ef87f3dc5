import DataStoreTesting
import Foundation
import JSONStore
import LogEngine
import LogStore
import RowFormat
import SwiftData
import Testing

@Suite struct `A public error` {
  /// The names of the public types of errors in the sources, and of the types that are localized.
  private static func declarations() throws -> (errors: Set<String>, localized: Set<String>) {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let files = try #require(
      FileManager.default.enumerator(
        at: root.appending(path: "Sources"),
        includingPropertiesForKeys: nil
      )
    )
    var errors: Set<String> = []
    var localized: Set<String> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      where line.hasPrefix("public ") || line.hasPrefix("extension ") {
        if let match = line.firstMatch(
          of: /^public (?:final )?(?:struct|enum|class) (\w+): .*\b(Localized)?Error\b/
        ) {
          errors.insert(String(match.1))
          if match.2 != nil { localized.insert(String(match.1)) }
        }
        if let match = line.firstMatch(of: /^extension (\w+): .*\bLocalizedError\b/) {
          localized.insert(String(match.1))
        }
      }
    }
    return (errors, localized)
  }

  @Test func `is localized, whichever its type`() throws {
    let (errors, localized) = try Self.declarations()
    #expect(errors.contains("UniquenessConflict") && errors.contains("StorageError"))
    #expect(errors.subtracting(localized) == [])
  }

  private static func samples() throws -> [any Error] {
    let identifiers = try ["1", "2"].map {
      try PersistentIdentifier.identifier(for: "shelf", entityName: "Book", primaryKey: $0)
    }
    return [
      SwiftDataError.unsupportedPredicate, DataStoreError.unsupportedFeature,
      DanglingReferences(
        toDeletedRows: [
          .init(
            row: RowReference(table: 1, key: 2),
            column: 3,
            target: RowReference(table: 4, key: 5)
          )
        ],
        toMissingRows: []
      ),
      UniquenessConflict(
        entityName: "Book",
        properties: ["isbn"],
        model: identifiers[0],
        holder: identifiers[1],
        reason: .update
      ),
      PageError.offset(3), JSONStoreError.notAnArchive(path: "/x.json", reason: "found a folder"),
      LogStoreError.location("/x", reason: "it is a file"),
      StorageError.locked(path: "/x", holder: "process 7 on vm"),
    ]
  }

  @Test func `about values that are not unique says so once`() throws {
    let container = try ModelContainer(
      for: Catalogued.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let second = Catalogued("b")
    for model in [Catalogued("a"), second] { context.insert(model) }
    try context.save()
    second.code = "a"
    let error = try #require(#expect(throws: SwiftDataError.self) { try context.save() })
    let conflict = try #require(error.underlyingError as? UniquenessConflict)
    #expect("\(error)" == "SwiftDataError.modelValidationFailure: \(conflict)")
  }

  @Test(arguments: try samples())
  func `says the same in a user interface as in a log`(error: any Error) {
    #expect(error.localizedDescription == "\(error)")
    #expect(!error.localizedDescription.contains("could not be completed"))
    #expect(!"\(error)".contains("ModelRuntime."))
  }
}

@Model private final class Catalogued {
  @Attribute(.unique) var code: String

  init(_ code: String) { self.code = code }
}
