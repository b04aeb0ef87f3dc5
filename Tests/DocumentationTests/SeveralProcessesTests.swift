import Foundation
import LogStore
import SwiftData
import Testing

@Model final class Journey {
  var place: String
  init(_ place: String) { self.place = place }
}

@Suite struct `Several processes, as documented` {
  @Test func `save to one store`() throws {
    typealias Trip = Journey
    let temporary = try TestFolder()
    let folder = temporary.url.appending(path: "trips.store")
    var configuration = LogStoreConfiguration(url: folder)
    configuration.writers = .severalProcesses
    let container = try ModelContainer(for: Trip.self, configurations: configuration)
    let context = ModelContext(container)
    context.insert(Trip("Rome"))
    try context.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Trip>()) == 1)
  }
}
