import Foundation
import LogStore
import RowFormat
import SwiftData
import Testing

@testable import ModelRuntime

@Suite struct `The rows at some references` {
  private let folder: TemporaryFolder
  private let container: ModelContainer
  private var store: any StoreAdapter { container.coordinator.connections[0].store }
  /// Rows of three tables, of which every seventh is deleted, and some that never were.
  private let references: [RowReference]
  private let deleted: Set<RowReference>

  init() throws {
    folder = try TemporaryFolder()
    var configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "stamps.store"),
      durability: .relaxed
    )
    configuration.compaction = LogStoreConfiguration.Compaction(.onDemand, historyByteCount: 0)
    container = try ModelContainer(
      for: Schema([Stamp.self, RareStamp.self, StampAlbum.self]),
      configurations: [configuration]
    )
    let context = ModelContext(container)
    var models: [any PersistentModel] = []
    for number in 0..<300 {
      switch number % 3 {
      case 0: models.append(Stamp(name: "stamp \(number)", value: number))
      case 1: models.append(RareStamp(misprint: "misprint \(number)"))
      default: models.append(StampAlbum(title: "album \(number)"))
      }
      context.insert(models[number])
    }
    try context.save()
    let store = container.coordinator.connections[0].store
    let names = try models.map { try #require(store.reference(of: $0.persistentModelID)) }
    deleted = Set(names.indices.filter { $0.isMultiple(of: 7) }.map { names[$0] })
    for number in stride(from: 0, to: 300, by: 7) { context.delete(models[number]) }
    try context.save()
    references =
      names + [
        RowReference(table: names[0].table, key: 1_000_000), RowReference(table: 60_000, key: 1),
      ]
  }

  private func pack() throws {
    _ = try #require(container.stores(of: LogStore.self).first).compact()
  }

  @Test(arguments: [false, true], [1, 2, 3] as [UInt64])
  func `come in the order that was asked for, with none for those that are not there`(
    isPacked: Bool,
    seed: UInt64
  ) throws {
    if isPacked { try pack() }
    let existing = Set(references.prefix(300)).subtracting(deleted)
    var random = SeededRandom(seed: seed)
    for count in [0, 1, 2, 7, 8, 17, 302] {
      // In order and in none; some of them twice.
      let some = references.shuffled(using: &random).prefix(count)
      let twice = (some + some.prefix(5)).shuffled(using: &random)
      for asked in [Array(some), some.sorted(), twice, twice.sorted()] {
        let rows = try store.rows(at: asked, for: EditingState())
        try #require(rows.count == asked.count)
        for (row, reference) in zip(rows, asked) {
          #expect(
            row?.reference == (existing.contains(reference) ? reference : nil),
            "\(reference) of \(asked.count), seed \(seed)"
          )
          let single = try store.row(at: reference, for: EditingState())
          #expect(single?.reference == row?.reference, "\(reference), seed \(seed)")
        }
      }
    }
  }

  @Test(arguments: [false, true])
  func `have the values of their models`(isPacked: Bool) throws {
    let context = ModelContext(container)
    let albums = try context.fetch(FetchDescriptor<StampAlbum>())
    for album in albums where album.title.hasSuffix("5") { album.title = "another title" }
    try context.save()
    if isPacked { try pack() }
    for album in albums where album.title.hasSuffix("8") { album.title += " of late" }
    try context.save()
    let layout = ModelDescriptor.of(StampAlbum.self).layout
    for asked in [albums, albums.reversed(), Array(albums.prefix(3))] {
      let names = try asked.map { try #require(store.reference(of: $0.persistentModelID)) }
      for (album, row) in zip(asked, try store.rows(at: names, for: EditingState())) {
        let title = try #require(row).withBytes { layout.text(0, in: $0) }
        #expect(title == album.title)
      }
    }
  }
}
