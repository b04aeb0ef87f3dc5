import Foundation
import LogEngineTestSupport
import ModelRuntime
import RowFormat
import SwiftData
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogStore

@Model final class Instrument {
  @Attribute(.unique) var serial: String
  var owner = 0
  init(_ serial: String) { self.serial = serial }
}

/// A store on a disk of its own whose process may end in any way.
struct IndexedDisk {
  let tables: TableStore
  let context: ModelContext
  static let schema = Schema([
    Measurement.self, Calibration.self, Ticket.self, Show.self, Instrument.self,
  ])

  init(
    _ fileSystem: any FileSystem,
    mode: EngineOptions.Mode = .readWrite,
    reads: EngineOptions.ReadMethod = .mapped,
    onEvent: EngineEventHandler? = nil
  ) throws {
    var options = EngineOptions()
    options.background = .caller
    options.mode = mode
    options.reads = reads
    options.smallestSegment = 256 << 10
    options.largestSegment = 256 << 10
    let engine = try StorageEngine.open(
      at: "/store",
      options: options,
      fileSystem: fileSystem,
      onEvent: onEvent
    )
    let schema = Self.schema
    let isWriter = mode == .readWrite
    let migration = StoreMigration(path: "/store", schema: schema, plan: nil, allowsSave: isWriter)
    var configuration = TableStore.Configuration(path: "/store", schema: schema)
    configuration.allowsSave = isWriter
    tables = try TableStore(migration.run(engine), configuration)
    let models = ModelConfiguration(schema: schema, url: URL(fileURLWithPath: "/store"))
    context = ModelContext(
      try ModelContainer(
        migrating: [(DefaultStore(StoreLease(tables), models), schema)],
        at: schema
      )
    )
  }

  /// Makes all indexes.
  ///
  /// - Returns: How many are read from a file, and how many of those have not changed since it was written.
  @discardableResult
  func makeIndexes() throws -> (fromFiles: Int, unchanged: Int) {
    let view = tables.engine.makeReadView()
    var result = (fromFiles: 0, unchanged: 0)
    for index in tables.indexes.all {
      guard let content = try index.content(as: view, in: tables) else {
        Issue.record("\(index.definition) is newer than the view")
        continue
      }
      if case .words(let words) = content {
        if words.file != nil {
          result.fromFiles += 1
          if !words.isChanged { result.unchanged += 1 }
        }
      } else if content.file != nil {
        result.fromFiles += 1
        if try !content.ordered().isChanged { result.unchanged += 1 }
      }
    }
    return result
  }

  /// How many indexes have enough rows for a file.
  static let largeIndexCount = 12

  /// Adds measurements, a few of a subclass, and tickets of shows.
  func fill(_ count: Int, using random: inout SeededRandom) throws {
    let shows = (0..<5).map { Show("show \($0)") }
    for show in shows { context.insert(show) }
    for number in 0..<count {
      context.insert(makeMeasurement(&random))
      context.insert(Instrument("serial \(number)"))
      let ticket = Ticket("seat", price: random.next(below: 100))
      context.insert(ticket)
      ticket.show = shows[random.next(below: shows.count)]
    }
    try context.save()
  }

  /// Changes, deletes and adds some.
  func shuffle(_ count: Int, using random: inout SeededRandom) throws {
    var descriptor = FetchDescriptor<Measurement>(sortBy: [SortDescriptor(\.other)])
    descriptor.fetchLimit = count
    for measurement in try context.fetch(descriptor) {
      measurement.other = random.next(below: 1000)
      switch random.next(below: 5) {
      case 0: context.delete(measurement)
      case 1: measurement.place = "Oslo-\(random.next(below: 9))"
      case 2: measurement.value = random.next(below: 3000)
      case 3: measurement.note = nil
      default: break
      }
    }
    let shows = try context.fetch(FetchDescriptor<Show>())
    for show in shows.prefix(2) where !show.tickets.isEmpty {
      show.tickets[0].show = shows.last
      context.delete(show.tickets[random.next(below: show.tickets.count)])
    }
    for _ in 0..<(count / 4) { context.insert(makeMeasurement(&random)) }
    try shuffleInstruments(count / 2, using: &random)
    try context.save()
  }

  /// Gives some serials to other instruments, some to nobody, and says that some are new that are not.
  private func shuffleInstruments(_ count: Int, using random: inout SeededRandom) throws {
    var descriptor = FetchDescriptor<Instrument>(sortBy: [SortDescriptor(\.owner)])
    descriptor.fetchLimit = count
    for instrument in try context.fetch(descriptor) {
      let serial = instrument.serial
      instrument.owner = random.next(below: 1000)
      switch random.next(below: 4) {
      case 0: context.delete(instrument)
      case 1: instrument.serial = UUID().uuidString
      case 2:
        context.delete(instrument)
        context.insert(Instrument(serial))
      default:
        let replacement = Instrument(serial)
        replacement.owner = random.next(below: 1000)
        context.insert(replacement)
      }
    }
  }

  private func makeMeasurement(_ random: inout SeededRandom) -> Measurement {
    let value = random.next(below: 3000) - 150
    let place = ["Oslo", "Москва-Сити", "caf\u{e9}", "cafe\u{301}", "東京都", ""][
      random.next(below: 6)
    ]
    let level = Double(random.next(below: 40)) / 4 - 5
    let taken = Date(timeIntervalSinceReferenceDate: Double(random.next(below: 1000)))
    let made =
      random.next(below: 20) == 0
      ? Calibration(value, place: place, level: level, taken: taken)
      : Measurement(value, place: place, level: level, taken: taken)
    made.note = random.next(below: 3) == 0 ? nil : "note \(random.next(below: 50))"
    made.code = random.next(below: 3) == 0 ? nil : UUID()
    made.other = random.next(below: 1000)
    return made
  }

  func close() throws { try tables.close(.containerClosed) }

  /// What queries by index find, as text.
  func answers() throws -> String {
    var lines: [String] = []
    for place in ["Oslo", "cafe\u{301}", "Oslo-3", "nowhere"] {
      let found = try context.fetch(
        FetchDescriptor<Measurement>(predicate: #Predicate { $0.place == place })
      )
      lines.append("\(place) \(found.map(\.value).sorted())")
    }
    var page = FetchDescriptor<Measurement>(
      predicate: #Predicate { $0.value >= 700 },
      sortBy: [SortDescriptor(\.value), SortDescriptor(\.other)]
    )
    page.fetchLimit = 60
    lines.append("\(try context.fetch(page).map { [$0.value, $0.other] })")
    lines.append(
      "\(try context.fetchCount(FetchDescriptor<Measurement>(predicate: #Predicate { $0.value < 90 })))"
    )
    for show in try context.fetch(FetchDescriptor<Show>(sortBy: [SortDescriptor(\.title)])) {
      lines.append("\(show.title) \(show.tickets.count)")
    }
    for part in ["москва", "afé", "sl", "東京"] {
      let found = FetchDescriptor<Measurement>(
        predicate: #Predicate { $0.place.localizedStandardContains(part) }
      )
      lines.append("\(part) \(try context.fetch(found).map(\.value).sorted())")
    }
    let noted = try context.search(
      FetchDescriptor<Measurement>(),
      for: "note -\"note 7\"",
      in: \.note
    )
    lines.append("\(noted.map(\.model.value).sorted())")
    let serials = try context.fetch(FetchDescriptor<Instrument>()).map(\.serial)
    #expect(Set(serials).count == serials.count)
    lines.append("\(serials.count) \(serials.sorted().first ?? "")")
    return lines.joined(separator: "\n")
  }
}

extension Disk {
  var indexFiles: [String] {
    paths.filter { $0.hasSuffix(".keys") || $0.hasSuffix(".words") }.sorted()
  }
}
