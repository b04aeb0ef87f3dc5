import Foundation
import Harness
import SwiftData

/// Flights as models in a LogStore, without an index; asked in a new context each time.
final class ModelQuestions: QuestionStore {
  let contender = Contender.models
  private let state: String
  private let container: ModelContainer

  init(_ folder: URL, _ state: String) throws {
    self.state = state
    var configuration = LogStoreConfiguration(url: folder, durability: .relaxed)
    configuration.compaction = .init(.onDemand, historyByteCount: 0)
    container = try ModelContainer(for: Flight.self, configurations: configuration)
  }

  func fill(_ rows: FlightRows) throws {
    try rows.insert(into: ModelContext(container), savingUpTo: rows.flights.count)
  }

  static func pack(_ folder: URL) throws {
    let store = try ModelQuestions(folder, "").container.stores(of: LogStore.self).first
    try store?.compact()
  }

  func settings(_ question: FlightQuestion) throws -> String {
    let context = ModelContext(container)
    let plans = try context.explain { try question.ask(context) }.plans
    let accesses = plans.flatMap(\.accesses).map { "\($0)" }.joined(separator: "; ")
    return "a new ModelContext on LogStore, \(state): \(accesses)"
  }

  func ask(_ question: FlightQuestion) throws -> [String] {
    try question.ask(ModelContext(container))
  }
}
