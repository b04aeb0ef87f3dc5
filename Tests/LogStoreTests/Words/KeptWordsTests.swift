import Foundation
import LogEngineTestSupport
import RowFormat
import SwiftData
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogStore
@testable import ModelRuntime

@Suite struct `Words that are kept` {
  private let folder: TemporaryFolder
  private let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = folder.url.appending(path: "letters.store")
  }

  private func open() throws -> ModelContainer {
    var configuration = LogStoreConfiguration(url: url, durability: .relaxed)
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    return try ModelContainer(for: Missive.self, configurations: configuration)
  }

  private func tables(of container: ModelContainer) throws -> TableStore {
    try #require(container.stores(of: LogStore.self).first).tables
  }

  private func words(of container: ModelContainer) throws -> IndexedWords {
    let tables = try tables(of: container)
    let index = try #require(tables.indexes.words.first { $0.column == 1 })
    return try #require(
      try index.words(as: tables.engine.makeReadView(), in: tables),
      "without a file, the first questions are scans"
    )
  }

  private func insert(_ numbers: Range<Int>, in container: ModelContainer) throws {
    let context = ModelContext(container)
    for number in numbers { context.insert(Missive(number, "letter \(number) to Zoë")) }
    try context.save()
  }

  private func find(_ text: String, in container: ModelContainer) throws -> [Int] {
    try ModelContext(container)
      .search(FetchDescriptor<Missive>(), for: TextQuery(text), in: \.body).map(\.model.number)
      .sorted()
  }

  private var paths: [String] {
    get throws {
      let index = url.appending(path: "index").path
      return try FileManager.default.contentsOfDirectory(atPath: index)
        .filter { $0.hasSuffix(".words") }.map { "\(index)/\($0)" }
    }
  }

  private var path: String { get throws { try #require(try paths.first) } }

  /// Makes a store of 2,000 letters that was searched.
  private func fill() async throws {
    let container = try open()
    try insert(0..<2000, in: container)
    #expect(try find("1234", in: container) == [1234])
    try await container.close()
  }

  @Test func `answer the first question of the next process`() async throws {
    try await fill()
    let container = try open()
    let predicate = #Predicate<Missive> { $0.body.localizedStandardContains("tter 777 TO zoe") }
    let plan = try ModelContext(container).explain(FetchDescriptor(predicate: predicate))
    #expect(plan.accesses.map(\.path) == [.words(["body"])])
    #expect(plan.accesses.first?.candidateCount == 1)
    #expect(try words(of: container).isChanged == false)
    #expect(try find("777", in: container) == [777])
    #expect(try tables(of: container).invariantViolations() == [])
  }

  @Test(arguments: [3, 100])
  func `take in what was saved since, closed or not, and forget what was deleted`(
    count: Int
  ) async throws {
    try await fill()
    do {
      // Without a search, so that the file stays as it is.
      let container = try open()
      let context = ModelContext(container)
      try insert(2000..<(2000 + count), in: container)
      for letter in try context.fetch(FetchDescriptor<Missive>()).prefix(count) {
        if letter.number % 2 == 0 {
          context.delete(letter)
        } else {
          letter.body = "changed \(letter.number)"
        }
      }
      try context.save()
      try await container.close()
    }
    for round in 0..<2 {
      let container = try open()
      #expect(try words(of: container).file != nil)
      #expect(try find("2001", in: container) == [2001], "round \(round)")
      #expect(try find("0", in: container) == [])
      #expect(try find("letter 1", in: container) == [])
      #expect(try find("chang* 1", in: container) == [1])
      #expect(try find("changed", in: container).count == count / 2)
      #expect(try tables(of: container).invariantViolations() == [])
      try await container.close()
    }
  }

  @Test func `are extended by what changed, in a file that stays below twice its need`()
    async throws
  {
    try await fill()
    let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    var salts: Set<UInt64> = []
    var number = 2000
    for round in 0..<30 {
      let container = try open()
      #expect(try words(of: container).file != nil, "round \(round)")
      try insert(number..<(number + 40), in: container)
      number += 40
      #expect(try find("\(number - 1)", in: container) == [number - 1])
      try await container.close()
      let file = try WordIndexFile(path, of: nil, on: PosixFileSystem())
      salts.insert(file.fileHeader.salt)
      #expect(file.byteCount < 3 * size + (64 << 10))
      #expect(file.entries.count < 12)
    }
    #expect(1..<15 ~= salts.count, "\(salts.count)")
    let container = try open()
    #expect(try find("zoe", in: container).count == number)
    #expect(try tables(of: container).invariantViolations() == [])
  }

  /// Wherever a run is changed, its checksum is made right again.
  @Test func `are made anew where a run is not one, whatever its checksum says`() async throws {
    try await fill()
    let original = try Data(contentsOf: URL(fileURLWithPath: path))
    let file = try WordIndexFile(path, of: nil, on: PosixFileSystem())
    let entry = try #require(file.entries.first)
    let seed: UInt64 = 4
    var random = SeededGenerator(seed: seed)
    let run = try file.readRun(entry)
    var madeAnew = 0
    for round in 0..<60 {
      var forged = run
      let place =
        round < 20
        ? Int.random(in: 0..<40, using: &random) : .random(in: run.indices, using: &random)
      forged[place] = round % 2 == 0 ? .random(in: 0...255, using: &random) : 0xFF
      var writer = WordIndexWriter(
        try PosixFileSystem().open(path, .create),
        file.fileHeader,
        file.header
      )
      try writer.append(forged.span.bytes)
      try writer.finish(pending: file.pending)
      let container = try open()
      let found = try find("1234", in: container)
      if try words(of: container).file == nil {
        #expect(found == [1234], "seed \(seed), round \(round)")
        madeAnew += 1
      }
      // A word or a row that is another one is found or not; nothing traps.
      _ = try find("letter to zoe", in: container)
      try await container.close()
      try original.write(to: URL(fileURLWithPath: path))
    }
    #expect(madeAnew > 5, "seed \(seed)")
  }

  @Test func `are not kept of few rows`() async throws {
    let container = try open()
    try insert(0..<100, in: container)
    #expect(try find("55", in: container) == [55])
    try await container.close()
    #expect(try paths == [])
  }
}
