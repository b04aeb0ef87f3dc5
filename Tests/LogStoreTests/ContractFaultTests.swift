import Foundation
import LogStore
import SwiftData
import Synchronization
import Testing

@testable import DataStoreTesting

/// What a ``FaultyStore`` does wrong.
enum Fault: String, CaseIterable {
  case none
  case forgetsEverySecondUpdate, answersFromBefore, remembersPerStore, savesInHalves
  case hidesUniqueModels, dropsLargeModels, erasesWhenClosed, losesOneWhenOpenedAgain
  case forgetsLastTransaction, erasesModelsWithHistory, deletesEverything, erasesWhenMigrated

  /// The feature whose clauses the fault breaks.
  var feature: DataStoreContract.Feature {
    switch self {
    case .none: .saving
    case .forgetsEverySecondUpdate: .updates
    case .answersFromBefore: .contexts
    case .remembersPerStore: .containers
    case .savesInHalves: .threads
    case .hidesUniqueModels: .concurrentUniqueness
    case .dropsLargeModels: .largeValues
    case .erasesWhenClosed: .closing
    case .losesOneWhenOpenedAgain: .recovery
    case .forgetsLastTransaction, .erasesModelsWithHistory: .history
    case .deletesEverything: .batching
    case .erasesWhenMigrated: .migration
    }
  }
}

struct FaultyConfiguration: DataStoreConfiguration {
  typealias Store = FaultyStore

  var base: LogStoreConfiguration
  let fault: Fault

  var name: String { base.name }
  var schema: Schema? {
    get { base.schema }
    set { base.schema = newValue }
  }
}

/// A log store with one fault.
final class FaultyStore: DataStore, HistoryProviding, DataStoreBatching, DataStoreClosing {
  typealias Configuration = FaultyConfiguration
  typealias Snapshot = LogStore.Snapshot
  typealias HistoryType = DefaultHistoryTransaction

  let configuration: FaultyConfiguration
  private let base: LogStore
  private let updateCount = Atomic(0)
  private let isHalfSaved = Atomic(false)
  /// Signalled by each fetch while a save is half done.
  private let looked = DispatchSemaphore(value: 0)
  /// The first answer for each entity, of this store.
  private let answers = Mutex<[String: [Snapshot]]>([:])

  var identifier: String { base.identifier }
  var schema: Schema { base.schema }
  private var fault: Fault { configuration.fault }

  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    base = try LogStore(configuration.base, migrationPlan: migrationPlan)
    if fault == .erasesWhenMigrated, schema.version == NewCrates.versionIdentifier {
      try base.erase()
    }
    if fault == .losesOneWhenOpenedAgain {
      try base.delete(
        DataStoreBatchDeleteRequest<Item>(
          predicate: #Predicate { $0.name == "9" && $0.count == 2 },
          includeSubclasses: true,
          editingState: EditingState()
        )
      )
    }
  }

  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, Snapshot> where T: PersistentModel {
    if isHalfSaved.load(ordering: .sequentiallyConsistent) { looked.signal() }
    let entity = Schema.entityName(for: T.self)
    var found = try base.fetch(request).fetchedSnapshots
    switch fault {
    case .hidesUniqueModels where entity == "Member":
      // A context that saves asks for all of them.
      found = []
    case .remembersPerStore, .answersFromBefore:
      let first = answers.withLock { answers in
        let first = answers[entity] ?? found
        answers[entity] = first
        return first
      }
      // Once there is anything, it stays as it was.
      if fault == .remembersPerStore || !first.isEmpty { found = first }
    default: break
    }
    return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: found)
  }

  func save(
    _ request: DataStoreSaveChangesRequest<Snapshot>
  ) throws -> DataStoreSaveChangesResult<Snapshot> {
    var (inserted, updated) = (request.inserted, request.updated)
    switch fault {
    case .forgetsEverySecondUpdate where !updated.isEmpty:
      if updateCount.add(1, ordering: .sequentiallyConsistent).newValue.isMultiple(of: 2) {
        updated = []
      }
    case .dropsLargeModels:
      inserted = try inserted.filter { try JSONEncoder().encode($0).count < 1_000_000 }
    case .savesInHalves where inserted.count > 1:
      let half = inserted.count / 2
      let first = try base.save(
        part(of: request, inserting: Array(inserted[..<half]), updating: [])
      )
      // Until another thread has looked twice, or nobody does.
      isHalfSaved.store(true, ordering: .sequentiallyConsistent)
      for _ in 0..<2 { _ = looked.wait(timeout: .now() + .seconds(1)) }
      isHalfSaved.store(false, ordering: .sequentiallyConsistent)
      let second = try base.save(
        part(of: request, inserting: Array(inserted[half...]), updating: updated)
      )
      return DataStoreSaveChangesResult(
        for: identifier,
        remappedIdentifiers: first.remappedIdentifiers.merging(second.remappedIdentifiers) { $1 }
      )
    default: break
    }
    return try base.save(part(of: request, inserting: inserted, updating: updated))
  }

  private func part(
    of request: DataStoreSaveChangesRequest<Snapshot>,
    inserting inserted: [Snapshot],
    updating updated: [Snapshot]
  ) -> DataStoreSaveChangesRequest<Snapshot> {
    DataStoreSaveChangesRequest(
      inserted: inserted,
      updated: updated,
      deleted: request.deleted,
      editingState: request.editingState
    )
  }

  func erase() throws { try base.erase() }

  func close() throws {
    if fault == .erasesWhenClosed { try? base.erase() }
    try base.close()
  }

  func delete<T>(_ request: DataStoreBatchDeleteRequest<T>) throws where T: PersistentModel {
    try base.delete(
      DataStoreBatchDeleteRequest(
        predicate: fault == .deletesEverything ? nil : request.predicate,
        includeSubclasses: request.includeSubclasses,
        editingState: request.editingState
      )
    )
  }

  func fetchHistory(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws -> [DefaultHistoryTransaction] {
    let found = try base.fetchHistory(descriptor)
    return fault == .forgetsLastTransaction ? found.dropLast() : found
  }

  func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
    if fault == .erasesModelsWithHistory { try base.erase() }
    try base.deleteHistory(descriptor)
  }
}

@Suite struct `The contract of data stores` {
  private func check(_ clause: DataStoreContract.Clause, _ fault: Fault) throws {
    let folder = try TemporaryFolder()
    func configuration(_ name: String) -> FaultyConfiguration {
      FaultyConfiguration(
        base: LogStoreConfiguration(url: folder.url.appending(path: name), durability: .relaxed),
        fault: fault
      )
    }
    try clause.check(
      killed: {
        try FileManager.default.copyItem(
          at: folder.url.appending(path: "contract.store"),
          to: folder.url.appending(path: "killed.store")
        )
        return configuration("killed.store")
      }
    ) {
      configuration("contract.store")
    }
  }

  /// Those that a fault is planted for.
  static let faulted = Set(Fault.allCases.filter { $0 != .none }.map(\.feature))

  /// What no store keeps that is spoken to in snapshots, as the faulty one is, and leaves it to contexts: the log store
  /// itself keeps it.
  static let lostInSnapshots: Set<DataStoreContract.Feature> = [.contexts, .concurrentUniqueness]

  @Test(
    arguments: DataStoreContract.clauses.filter { !lostInSnapshots.contains($0.feature) }
  )
  func `is kept by a store without a fault`(clause: DataStoreContract.Clause) throws {
    try check(clause, .none)
  }

  @Test(arguments: Fault.allCases.filter { $0 != .none })
  func `notices a planted fault`(fault: Fault) {
    var messages: [String] = []
    for clause in DataStoreContract.clauses where clause.feature == fault.feature {
      do { try check(clause, fault) } catch { messages.append("\(error)") }
    }
    #expect(!messages.isEmpty, "no clause about \(fault.feature) notices \(fault)")
  }

  @Test func `has a clause for each feature, and a fault for each that is new`() {
    let features = Set(DataStoreContract.clauses.map(\.feature))
    #expect(features == Set(DataStoreContract.Feature.allCases))
    let old: Set<DataStoreContract.Feature> = [
      .values, .saving, .calls, .uniqueness, .relationships, .fetching,
    ]
    #expect(Self.faulted.union(old) == features)
  }

  @Test func `does not check what is declared unsupported, and tells the reason`() throws {
    let clause = try #require(DataStoreContract.clauses.first { $0.feature == .recovery })
    let outcome = try clause.check(unsupported: [.recovery: "it is in memory"]) {
      LogStoreConfiguration(url: URL(filePath: "/nowhere/contract.store"))
    }
    #expect(outcome == .unsupported(reason: "it is in memory"))
  }

  @Test(arguments: [DataStoreContract.Feature.history, .batching, .closing])
  func `refuses a declaration that the store's type contradicts`(
    feature: DataStoreContract.Feature
  ) throws {
    let clause = try #require(DataStoreContract.clauses.first { $0.feature == feature })
    #expect(throws: ContractViolation.self) {
      try clause.check(unsupported: [feature: "not yet"]) {
        LogStoreConfiguration(url: URL(filePath: "/nowhere/contract.store"))
      }
    }
  }

  @Test func `asks for a copy before it checks what a killed process leaves`() throws {
    let clause = try #require(DataStoreContract.clauses.first { $0.feature == .recovery })
    #expect(throws: ContractViolation.self) {
      try clause.check { LogStoreConfiguration(url: URL(filePath: "/nowhere/contract.store")) }
    }
  }
}
