import Foundation
import Harness
import SwiftData

/// Imports that look for what they are about to make, and fetches beside what is unsaved.
struct Imports {
  let plan: Plan

  /// Finds or creates devices, half of which are known: one transaction with everything unsaved to its end.
  func findOrCreate(_ stores: [any ServiceStore]) throws -> [Standing] {
    let counts = plan.choose(quick: [1000, 10_000], full: [1000, 10_000, 100_000])
    return try counts.flatMap { try findOrCreate($0, isLast: $0 == counts.last, stores) }
  }

  private func findOrCreate(
    _ count: Int,
    isLast: Bool,
    _ stores: [any ServiceStore]
  ) throws -> [Standing] {
    let rows = isLast ? nil : count
    let entrants = stores.map { store in
      var round = 0
      return Entrant(
        .findOrCreate,
        store.contender,
        settings: store.settings + "; serials looked up by a unique key, half of them known",
        comparedWith: store.contender == .models ? .init(.findOrCreate, .sqlite, rows: rows) : nil,
        targets: [Target(.rowsPerSecond, .share, .atLeast(0.5))],
        rows: rows
      ) {
        round += 1
        let serials = (0..<count).map { "serial \(count)-\(round)-\($0 / 2)" }
        var created = 0
        let sample = try timeRows(count) { created = try store.findOrCreate(serials) }
        try WrongAnswer.check(created, is: count / 2, store.contender)
        return sample
      }
    }
    return try RoundRobin(rounds: plan.choose(quick: 3, full: 7), entrants).run()
  }

  /// Fetches saved devices by their serial numbers: beside 10,000 unsaved ones, and beside none.
  func pendingFetch(_ service: ModelService) throws -> [Standing] {
    let context = ModelContext(service.container)
    for number in 0..<10_000 { context.insert(Device(serial: "saved \(number)")) }
    try context.save()
    let none = entrant(.noPendingFetch, service, ModelContext(service.container))
    let beside = ModelContext(service.container)
    for number in 0..<10_000 { beside.insert(Device(serial: "unsaved \(number)")) }
    let pending = entrant(
      .pendingFetch,
      service,
      beside,
      comparedWith: .init(.noPendingFetch, .models),
      targets: [Target(.p50Microseconds, .share, .atMost(1.2))]
    )
    return try RoundRobin(rounds: plan.choose(quick: 5, full: 15), [none, pending]).run()
  }

  private func entrant(
    _ workload: Workload,
    _ service: ModelService,
    _ context: ModelContext,
    comparedWith reference: Entrant.Key? = nil,
    targets: [Target] = []
  ) -> Entrant {
    var next = 0
    return Entrant(
      workload,
      .models,
      settings: "one ModelContext on LogStore, a device by its unique serial number",
      comparedWith: reference,
      targets: targets
    ) {
      let numbers = (0..<500).map { (next + $0) % 10_000 }
      next += 500
      return try timeEach(numbers) { number in
        let found = try ModelService.device("saved \(number)", in: context)
        try WrongAnswer.check(found == nil ? 0 : 1, is: 1, .models)
      }
    }
  }
}
