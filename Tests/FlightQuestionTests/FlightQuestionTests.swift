import Foundation
import SwiftData
import Testing

/// Where the rows are that are asked about.
enum FlightPlace: String, CaseIterable, CustomTestStringConvertible {
  case log, packs, unsaved, halfUnsaved

  var testDescription: String { rawValue }
}

@Suite struct `Ten questions about January's flights` {
  private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
  private static let resources = sources.appending(path: "../../Tools/SampleTrips/Resources")
    .standardizedFileURL

  @Test(arguments: FlightPlace.allCases)
  func `are answered as a program answers that reads the lines`(place: FlightPlace) throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "flights-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = LogStoreConfiguration(
      url: folder.appending(path: "flights.store"),
      durability: .relaxed
    )
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    let container = try ModelContainer(for: Flight.self, configurations: configuration)
    let context = ModelContext(container)
    context.autosaveEnabled = false
    try insert(into: context, place)
    if place == .packs {
      let store = try #require(container.stores(of: LogStore.self).first)
      try store.compact()
      #expect(!store.statistics().packs.isEmpty)
    }
    let answers = try answers()
    for question in FlightQuestion.allCases {
      let (answer, plans) = try context.explain { try question.ask(context) }
      #expect(answer == answers[question.rawValue], "\(question.rawValue)")
      if place == .log || place == .packs {
        #expect(!plans.isEmpty && plans.allSatisfy { $0.objectCount == 0 }, "\(plans)")
      }
    }
  }

  private func insert(into context: ModelContext, _ place: FlightPlace) throws {
    let rows = try FlightRows(
      flights: Self.resources.appending(path: "flights-2013-01.csv"),
      planes: Self.resources.appending(path: "planes.csv")
    )
    switch place {
    case .log, .packs: try rows.insert(into: context, savingUpTo: rows.flights.count)
    case .unsaved: try rows.insert(into: context, savingUpTo: 0)
    case .halfUnsaved:
      try rows.insert(into: context, savingUpTo: rows.flights.count / 2)
      // To and fro: changed models have the values they had.
      for (index, flight) in try context.fetch(FetchDescriptor<Flight>()).enumerated()
      where index % 50 == 0 {
        flight.distance += 1
        flight.distance -= 1
      }
    }
  }

  /// The lines of each question in the file that `answers.py` has written.
  private func answers() throws -> [String: [String]] {
    let file = Self.sources.appending(path: "Answers/flights-2013-01.txt")
    var answers: [String: [String]] = [:]
    var question = ""
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
      if line.hasPrefix("# ") {
        question = String(line.dropFirst(2))
      } else {
        answers[question, default: []].append(String(line))
      }
    }
    return answers
  }
}
