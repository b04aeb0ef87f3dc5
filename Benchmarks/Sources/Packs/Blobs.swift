import Floor
import Foundation
import Harness
import LogEngine
import ModelStores
import SwiftData
import Workloads

/// Models with large values: written, half of them changed, a third deleted, the rest read, and the store
/// compacted.
struct Blobs {
  private let plan: Plan
  private let count: Int
  private let values = LargeValues()

  init(_ plan: Plan) {
    self.plan = plan
    count = plan.choose(quick: 150, full: 10_000)
  }

  func run(_ report: Report) throws {
    try withFolder(plan, "blobs") { folder in
      let store = folder.appending(path: "store")
      var container: ModelContainer? = try Self.open(store)
      func step(_ workload: Workload, _ body: (ModelContainer) throws -> Int) throws {
        guard let container else { return }
        report.add(try measure(workload) { try body(container) })
      }
      report.add(try floor(folder))
      try step(.blobWrite, write)
      try step(.blobUpdate, update)
      try step(.blobDelete, delete)
      try step(.blobRead, readAll)
      container = nil
      report.add(try weigh(.blobSize, store))
      let engine = try StorageEngine.open(at: store.path)
      try engine.compact()
      try engine.close()
      report.add(try weigh(.blobSizeCompacted, store))
    }
  }

  /// The same values, each in a file of its own.
  private func floor(_ folder: URL) throws -> [Standing] {
    let place = folder.appending(path: "floor")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: place) }
    return try measure(.blobWrite, .floor, FloorFiles.settings) {
      let files = try FloorFiles(in: place.path)
      return try forEachTen(0..<count) { numbers in
        for number in numbers {
          try values.value(number, version: 0).withUnsafeBytes { try files.write($0) }
        }
        try files.synchronize()
        return numbers.reduce(0) { $0 + values.byteCount($1, version: 0) }
      }
    }
  }

  private static func open(_ folder: URL) throws -> ModelContainer {
    try ModelContainer(
      for: Schema([Photo.self]),
      configurations: [LogStoreConfiguration(url: folder, durability: .relaxed)]
    )
  }

  // MARK: Steps; each returns how many bytes of values it handled

  private func write(_ container: ModelContainer) throws -> Int {
    try forEachTen(0..<count) { numbers in
      let context = ModelContext(container)
      for number in numbers {
        context.insert(Photo(number: number, bytes: values.value(number, version: 0)))
      }
      try context.save()
      return numbers.reduce(0) { $0 + values.byteCount($1, version: 0) }
    }
  }

  private func update(_ container: ModelContainer) throws -> Int {
    try change(container, (0..<count).filter { version(of: $0) == 1 }) { _, photo in
      photo.bytes = values.value(photo.number, version: 1)
      return values.byteCount(photo.number, version: 1)
    }
  }

  private func delete(_ container: ModelContainer) throws -> Int {
    try change(container, (0..<count).filter { !isKept($0) }) { context, photo in
      context.delete(photo)
      return values.byteCount(photo.number, version: version(of: photo.number))
    }
  }

  private func readAll(_ container: ModelContainer) throws -> Int {
    var bytes = 0
    try ModelContext(container).enumerate(FetchDescriptor<Photo>(), batchSize: 10) { photo in
      guard values.isValue(photo.bytes, photo.number, version: version(of: photo.number)) else {
        throw WrongAnswer(.models, expected: photo.number, found: photo.bytes.count)
      }
      bytes += photo.bytes.count
    }
    try WrongAnswer.check(bytes, is: liveByteCount, .models)
    return bytes
  }

  private func change(
    _ container: ModelContainer,
    _ numbers: [Int],
    _ body: (ModelContext, Photo) throws -> Int
  ) throws -> Int {
    let sorted = FetchDescriptor<Photo>(sortBy: [SortDescriptor(\.number)])
    let identifiers = try ModelContext(container).fetchIdentifiers(sorted)
    return try forEachTen(numbers) { numbers in
      let context = ModelContext(container)
      var bytes = 0
      for number in numbers {
        guard let photo = context.model(for: identifiers[number]) as? Photo else { continue }
        bytes += try body(context, photo)
      }
      try context.save()
      return bytes
    }
  }

  private func forEachTen<Numbers: RandomAccessCollection<Int>>(
    _ numbers: Numbers,
    _ body: (Numbers.SubSequence) throws -> Int
  ) throws -> Int {
    var bytes = 0
    var rest = numbers[...]
    while !rest.isEmpty {
      bytes += try body(rest.prefix(10))
      rest = rest.dropFirst(10)
    }
    return bytes
  }

  // MARK: Figures

  private func version(of number: Int) -> Int { number % 2 }

  private func isKept(_ number: Int) -> Bool { number % 3 != 0 }

  private var liveByteCount: Int {
    (0..<count).filter(isKept).reduce(0) { $0 + values.byteCount($1, version: version(of: $1)) }
  }

  private var settings: String {
    """
    ModelContext on LogStore, .relaxed; \(count) values of 1 KiB to 4 MiB, ten a save; those above 128 KiB \
    in files of their own
    """
  }

  private func measure(
    _ workload: Workload,
    _ contender: Contender = .models,
    _ settings: String? = nil,
    _ work: () throws -> Int
  ) throws -> [Standing] {
    let sample = try measuringMemory {
      var bytes = 0
      let timed = try timeMilliseconds { bytes = try work() }
      let milliseconds = timed.figures[.milliseconds] ?? .nan
      return Sample([.megabytesPerSecond: Double(bytes) / 1e3 / milliseconds])
    }
    return try standing(workload, contender, settings ?? self.settings, sample)
  }

  private func weigh(_ workload: Workload, _ store: URL) throws -> [Standing] {
    let bytes = try allocatedBytes(in: store)
    let targets =
      workload == .blobSizeCompacted ? [Target(.spaceAmplification, .atMost(1.4))] : []
    return try standing(
      workload,
      .models,
      settings,
      Sample([.spaceAmplification: Double(bytes) / Double(liveByteCount)]),
      targets
    )
  }

  private func standing(
    _ workload: Workload,
    _ contender: Contender,
    _ settings: String,
    _ sample: Sample,
    _ targets: [Target] = []
  ) throws -> [Standing] {
    let entrant = Entrant(workload, contender, settings: settings, targets: targets) { sample }
    return try RoundRobin(rounds: 1, warmUp: .none, [entrant]).run()
  }
}
