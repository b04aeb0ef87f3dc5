#if os(Linux)
import Foundation
import LogStore
import SwiftData
import Testing

@Model final class Leaflet {
  #Unique<Leaflet>([\.title])
  #Index<Leaflet>([\.number], [\.text])
  var title: String
  var number: Int
  var text: String
  @Attribute(.externalStorage) var cover: Data

  init(_ number: Int) {
    title = "leaflet \(number)"
    self.number = number
    text = "harbour \(number) lighthouse"
    cover = Data(repeating: UInt8(number & 255), count: 3000)
  }
}

@Suite struct `A container that was closed, and is held` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ writers: LogStoreConfiguration.Writers) throws -> ModelContainer {
    var configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "store"),
      durability: .relaxed
    )
    configuration.writers = writers
    configuration.externalStorageThreshold = 1000
    return try ModelContainer(for: Leaflet.self, configurations: configuration)
  }

  /// The files of the store that this process has open.
  private func openFiles() throws -> [String] {
    let path = folder.url.resolvingSymlinksInPath().path
    return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    .filter { $0.hasPrefix(path + "/") }
  }

  @Test(arguments: [LogStoreConfiguration.Writers.oneProcess, .severalProcesses])
  func `has no file open, also with what was read of it`(
    writers: LogStoreConfiguration.Writers
  ) async throws {
    var held: [Any] = []
    for round in 0..<3 {
      let container = try open(writers)
      let context = ModelContext(container)
      for number in 0..<60 { context.insert(Leaflet(round * 60 + number)) }
      try context.save()
      let found = try context.fetch(
        FetchDescriptor<Leaflet>(
          predicate: #Predicate { $0.number > 5 && $0.text.contains("lighthouse") }
        )
      )
      _ = try context.search(FetchDescriptor<Leaflet>(), for: "harbour", in: \.text)
      #expect(found.count == (round + 1) * 60 - 6)
      held += [container, context, found, found.map(\.cover)]
      try await container.close()
      #expect(try openFiles() == [])
    }
    withExtendedLifetime(held) {}
  }
}
#endif
