import Foundation
import ModelRuntime
import Testing

// Snapshots that a store hands out in another shape than the class of the schema has.

enum OldNotes {
  @Model final class Note {
    var title: String
    var size: Int
    init(title: String, size: Int) {
      self.title = title
      self.size = size
    }
  }
}

/// The title is called a headline, the size a title; there is another size.
enum NewNotes {
  @Model final class Note {
    @Attribute(originalName: "title") var headline: String
    @Attribute(originalName: "size") var title: Int
    var size: Int = 5
    var color: String? = "red"
    init(headline: String) {
      self.headline = headline
      title = 0
    }
  }
}

@Model final class Sticker {
  var name: String
  var note: String? = "new"
  @Attribute(originalName: "name") var formerName: String?
  init(name: String) { self.name = name }
}

/// Leaves nil out, as the coding does that the compiler writes.
struct SparseSnapshot: DataStoreSnapshot {
  let persistentIdentifier: PersistentIdentifier
  let name: String
  let note: String?
  let formerName: String?

  init(
    from backingData: any BackingData,
    relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
  ) {
    guard let sticker = backingData as? any BackingData<Sticker>,
      let identifier = backingData.persistentModelID
    else { preconditionFailure("\(backingData) is not the backing data of a sticker") }
    persistentIdentifier = identifier
    name = sticker.getValue(forKey: \.name)
    note = sticker.getValue(forKey: \.note)
    formerName = sticker.getValue(forKey: \.formerName)
  }

  private init(_ identifier: PersistentIdentifier, _ other: SparseSnapshot) {
    persistentIdentifier = identifier
    name = other.name
    note = other.note
    formerName = other.formerName
  }

  func copy(
    persistentIdentifier: PersistentIdentifier,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
  ) -> SparseSnapshot { SparseSnapshot(persistentIdentifier, self) }
}

final class SparseStore: DataStore {
  struct Configuration: DataStoreConfiguration {
    typealias Store = SparseStore
    var name = "sparse"
    var schema: Schema?
  }
  typealias Snapshot = SparseSnapshot

  let configuration: Configuration
  let identifier = "sparse"
  let schema: Schema
  private var snapshots: [PersistentIdentifier: SparseSnapshot] = [:]

  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    schema = configuration.schema ?? Schema()
  }

  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, SparseSnapshot> {
    if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
    if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
    return DataStoreFetchResult(
      descriptor: request.descriptor,
      fetchedSnapshots: Array(snapshots.values)
    )
  }

  func save(
    _ request: DataStoreSaveChangesRequest<SparseSnapshot>
  ) throws -> DataStoreSaveChangesResult<SparseSnapshot> {
    var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
    for snapshot in request.inserted {
      let identifier = try PersistentIdentifier.identifier(
        for: identifier,
        entityName: "Sticker",
        primaryKey: snapshots.count + 1
      )
      remapped[snapshot.persistentIdentifier] = identifier
      snapshots[identifier] = snapshot.copy(
        persistentIdentifier: identifier,
        remappedIdentifiers: nil
      )
    }
    for snapshot in request.updated { snapshots[snapshot.persistentIdentifier] = snapshot }
    return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
  }
}

@Suite struct `A snapshot of another shape than its class` {
  @Test func `gives each property the value of its former name, and a new one its default`() throws
  {
    let configuration = MemoryStore.Configuration()
    let old = try ModelContainer(
      for: Schema([OldNotes.Note.self]),
      configurations: [configuration]
    )
    let context = ModelContext(old)
    context.insert(OldNotes.Note(title: "Lists", size: 12))
    try context.save()

    let new = try ModelContainer(
      for: Schema([NewNotes.Note.self]),
      configurations: [configuration]
    )
    let note = try #require(try ModelContext(new).fetch(FetchDescriptor<NewNotes.Note>()).first)
    #expect(note.headline == "Lists")
    #expect(note.title == 12)
    #expect(note.size == 5)
    #expect(note.color == "red")
  }

  @Test func `has nil for what a store's own snapshot leaves out`() throws {
    let container = try ModelContainer(
      for: Schema([Sticker.self]),
      configurations: [SparseStore.Configuration()]
    )
    let context = ModelContext(container)
    let sticker = Sticker(name: "sun")
    sticker.note = nil
    context.insert(sticker)
    try context.save()
    let read = try #require(try ModelContext(container).fetch(FetchDescriptor<Sticker>()).first)
    #expect(read.name == "sun")
    #expect(read.note == nil)
    #expect(read.formerName == nil)
  }
}
