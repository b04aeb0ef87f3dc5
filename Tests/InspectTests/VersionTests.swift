import ArgumentParser
import Foundation
import LogEngine
import Testing

@testable import logstore_inspect

@Suite struct `The version` {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test func `is what the changelog describes first`() throws {
    let changelog = try String(
      contentsOf: Self.root.appending(path: ".github/CHANGELOG.md"),
      encoding: .utf8
    )
    let heading = try #require(changelog.split(separator: "\n").first { $0.hasPrefix("## ") })
    #expect(heading.hasPrefix("## \(StorageEngine.version) "))
  }

  @Test func `a version is three numbers`() {
    let parts = StorageEngine.version.split(separator: ".", omittingEmptySubsequences: false)
    #expect(parts.count == 3 && parts.allSatisfy { UInt($0).map(String.init) == String($0) })
  }

  @Test func `is shown by the inspector`() {
    #expect(Inspect.configuration.version == StorageEngine.version)
    let error = #expect(throws: (any Error).self) { try Inspect.parseAsRoot(["--version"]) }
    #expect(error.map { Inspect.message(for: $0) } == StorageEngine.version)
  }
}
