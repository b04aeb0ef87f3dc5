import LogStore
import SwiftData

@Model final class Voyage {
  @Attribute(.preserveValueOnDeletion) var name: String
  var budget: Double
  var note: String?
  @Attribute(.preserveValueOnDeletion) var started: Date?
  @Relationship(deleteRule: .cascade, inverse: \Cabin.voyage) var cabins: [Cabin] = []
  @Relationship(inverse: \Guest.voyages) var guests: [Guest] = []

  init(_ name: String, budget: Double = 0) {
    self.name = name
    self.budget = budget
  }
}

@Model final class Cabin {
  var number: Int
  var voyage: Voyage?

  init(_ number: Int) { self.number = number }
}

@Model final class Guest {
  @Attribute(.preserveValueOnDeletion) var name: String
  var voyages: [Voyage] = []

  init(_ name: String) { self.name = name }
}

typealias Transaction = DefaultHistoryTransaction

/// A store in a folder of its own, and what to do with its history.
final class HistoryStore {
  let folder: TemporaryFolder
  private(set) var container: ModelContainer
  let compaction: LogStoreConfiguration.Compaction
  private static let models: [any PersistentModel.Type] = [Voyage.self, Cabin.self, Guest.self]

  init(_ compaction: LogStoreConfiguration.Compaction = .onDemand) throws {
    folder = try TemporaryFolder()
    self.compaction = compaction
    container = try Self.open(folder, compaction)
  }

  static func open(
    _ folder: TemporaryFolder,
    _ compaction: LogStoreConfiguration.Compaction = .onDemand,
    allowsSave: Bool = true
  ) throws -> ModelContainer {
    let url = folder.url.appending(path: "voyages.store")
    var configuration = LogStoreConfiguration(url: url, allowsSave: allowsSave)
    configuration.compaction = compaction
    return try ModelContainer(for: Schema(models), configurations: [configuration])
  }

  /// Lets go of the store: its folder is locked until the last container, or context, is gone.
  func close() throws {
    container = try ModelContainer(
      for: Schema([Voyage.self]),
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
  }

  func reopen() throws {
    try close()
    container = try Self.open(folder, compaction)
  }

  func context(_ author: String? = nil) -> ModelContext {
    let context = ModelContext(container)
    context.author = author
    return context
  }

  func transactions(
    _ predicate: Predicate<Transaction>? = nil
  ) throws -> [Transaction] {
    try context().fetchHistory(HistoryDescriptor(predicate: predicate))
  }

  func newestToken() throws -> DefaultHistoryToken? { try transactions().last?.token }

  /// What was done since, a line a transaction.
  func told(since token: DefaultHistoryToken? = nil) throws -> [String] {
    guard let token else { return try transactions().map(\.told) }
    return try transactions(#Predicate { $0.token > token }).map(\.told)
  }
}

extension DefaultHistoryTransaction {
  /// The changes in words, sorted: what is told matters here, not the order of models.
  var told: String {
    changes.map(\.told).sorted().joined(separator: ", ")
  }
}

extension HistoryChange {
  var told: String {
    let entity = changedPersistentIdentifier.entityName
    switch self {
    case .insert: return "+\(entity)"
    case .delete: return "-\(entity)"
    case .update(let update): return "\(entity)(\(names(update)))"
    }
  }
}

private func names(_ update: some HistoryUpdate) -> String {
  func names<U: HistoryUpdate>(_ update: U) -> [String] {
    let known: [(AnyKeyPath, String)] = [
      (\Voyage.name, "name"), (\Voyage.budget, "budget"), (\Voyage.note, "note"),
      (\Voyage.started, "started"), (\Voyage.cabins, "cabins"), (\Voyage.guests, "guests"),
      (\Cabin.number, "number"), (\Cabin.voyage, "voyage"), (\Guest.name, "name"),
      (\Guest.voyages, "voyages"),
    ]
    return update.updatedAttributes.map { path in known.first { $0.0 == path }?.1 ?? "?" }
  }
  return names(update).sorted().joined(separator: " ")
}
