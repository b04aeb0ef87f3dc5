import Foundation
import LogStore
import SwiftData
import Testing

@Suite struct `An object of a context` {
  @Test(arguments: UInt64(1)...4)
  func `is found by its row exactly as long as it is held`(seed: UInt64) throws {
    let container = try ModelContainer(
      for: Consignment.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let writer = ModelContext(container)
    for code in 0..<2000 {
      writer.insert(Consignment(code, weight: code % 16, city: code % 64 == 5 ? "Bonn" : "Ulm"))
    }
    try writer.save()
    let names = try writer.fetchIdentifiers(FetchDescriptor<Consignment>())
    var random = SeededRandom(seed: seed)
    let context = ModelContext(container)
    var held: [PersistentIdentifier: Consignment] = [:]
    for round in 0..<20 {
      // Rows side by side, rows far apart by a power of two, and any.
      let start = Int.random(in: 0..<2000, using: &random)
      let weight = start % 16
      let descriptor =
        switch round % 4 {
        case 0:
          FetchDescriptor<Consignment>(
            predicate: #Predicate { $0.code >= start && $0.code < start + 700 }
          )
        case 1: FetchDescriptor<Consignment>(predicate: #Predicate { $0.weight == weight })
        case 2: FetchDescriptor<Consignment>(predicate: #Predicate { $0.city == "Bonn" })
        default: FetchDescriptor<Consignment>(predicate: #Predicate { $0.code == start })
        }
      for model in try context.fetch(descriptor) { held[model.persistentModelID] = model }
      for name in names where Int.random(in: 0..<3, using: &random) == 0 { held[name] = nil }
      let wrong = names.filter { name in
        let registered: Consignment? = context.registeredModel(for: name)
        return registered !== held[name]
      }
      #expect(wrong.isEmpty, "seed \(seed), round \(round)")
    }
  }
}
