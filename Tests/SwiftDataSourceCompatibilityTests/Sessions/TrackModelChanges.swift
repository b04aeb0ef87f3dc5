import Foundation
import SwiftData

// In the style of "Track model changes with SwiftData history" (WWDC24): a widget that looks after trips changed
// elsewhere, and a store with a history of its own.

enum TrackModelChanges {
  @Model
  final class Trip {
    @Attribute(.preserveValueOnDeletion)
    var name: String
    var destination: String
    @Attribute(.preserveValueOnDeletion)
    var startDate: Date
    @Relationship(deleteRule: .cascade, inverse: \Lodging.trip) var lodging: Lodging?

    init(name: String, destination: String, startDate: Date = .now) {
      self.name = name
      self.destination = destination
      self.startDate = startDate
    }
  }

  @Model
  final class Lodging {
    var place: String
    var isConfirmed = false
    var trip: Trip?

    init(place: String) { self.place = place }
  }

  struct Handler {
    let modelContainer: ModelContainer

    func findTransactions(
      after token: DefaultHistoryToken?,
      author: String
    ) -> [DefaultHistoryTransaction] {
      var historyDescriptor = HistoryDescriptor<DefaultHistoryTransaction>()
      if let token {
        historyDescriptor.predicate = #Predicate { transaction in
          (transaction.token > token) && (transaction.author == author)
        }
      }
      var transactions: [DefaultHistoryTransaction] = []
      let taskContext = ModelContext(modelContainer)
      do {
        transactions = try taskContext.fetchHistory(historyDescriptor)
      } catch let error {
        print(error)
      }
      return transactions
    }

    func findTrips(
      in transactions: [DefaultHistoryTransaction]
    ) -> (Set<Trip>, DefaultHistoryToken?) {
      let taskContext = ModelContext(modelContainer)
      var resultTrips: Set<Trip> = []
      for transaction in transactions {
        for change in transaction.changes {
          let modelID = change.changedPersistentIdentifier
          let fetchDescriptor = FetchDescriptor<Trip>(
            predicate: #Predicate { trip in
              trip.lodging?.persistentModelID == modelID
            }
          )
          let fetchResults = try? taskContext.fetch(fetchDescriptor)
          guard let matchedTrip = fetchResults?.first else {
            continue
          }
          switch change {
          case .insert(_ as DefaultHistoryInsert<Lodging>):
            resultTrips.insert(matchedTrip)
          case .update(_ as DefaultHistoryUpdate<Lodging>):
            resultTrips.update(with: matchedTrip)
          case .delete(_ as DefaultHistoryDelete<Lodging>):
            resultTrips.remove(matchedTrip)
          default: break
          }
        }
      }
      return (resultTrips, transactions.last?.token)
    }

    func confirmations(in transactions: [DefaultHistoryTransaction]) -> [PersistentIdentifier] {
      transactions.flatMap(\.changes).compactMap { change in
        if case .update(let update) = change, let update = update as? any HistoryUpdate<Lodging>,
          update.updatedAttributes.contains(\.isConfirmed)
        {
          return change.changedPersistentIdentifier
        }
        return nil
      }
    }

    func namesOfDeletedTrips(in transactions: [DefaultHistoryTransaction]) -> [String] {
      transactions.flatMap(\.changes).compactMap { change in
        guard case .delete(let delete as DefaultHistoryDelete<Trip>) = change else { return nil }
        return delete.tombstone[\.name] as? String
      }
    }

    func newestToken() throws -> DefaultHistoryToken? {
      var descriptor = HistoryDescriptor<DefaultHistoryTransaction>(
        sortBy: [.init(\.transactionIdentifier, order: .reverse)]
      )
      descriptor.fetchLimit = 1
      return try ModelContext(modelContainer).fetchHistory(descriptor).first?.token
    }

    func deleteTransactions(before token: DefaultHistoryToken) throws {
      var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
      descriptor.predicate = #Predicate {
        $0.token < token
      }
      let context = ModelContext(modelContainer)
      try context.deleteHistory(descriptor)
    }
  }
}

// MARK: A store with a history of its own

struct LedgerToken: HistoryToken {
  typealias TokenType = Int

  let tokenValue: Int?
  var id: Int { tokenValue ?? 0 }

  static func < (lhs: LedgerToken, rhs: LedgerToken) -> Bool { lhs.id < rhs.id }
}

struct LedgerTransaction: HistoryTransaction {
  typealias TokenType = LedgerToken
  typealias TransactionIdentifier = Int

  let transactionIdentifier: Int
  let timestamp: Date
  let changes: [HistoryChange]
  let storeIdentifier: String
  let author: String?

  var id: Int { transactionIdentifier }
  var token: LedgerToken { LedgerToken(tokenValue: transactionIdentifier) }

  static func == (lhs: LedgerTransaction, rhs: LedgerTransaction) -> Bool { lhs.id == rhs.id }
  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

struct LedgerInsert<Model: PersistentModel>: HistoryInsert {
  typealias TransactionIdentifier = Int
  typealias ChangeIdentifier = Int

  let changeIdentifier: Int
  let transactionIdentifier: Int
  let changedPersistentIdentifier: PersistentIdentifier
}

struct LedgerDelete<Model: PersistentModel>: HistoryDelete {
  typealias TransactionIdentifier = Int
  typealias ChangeIdentifier = Int

  let changeIdentifier: Int
  let transactionIdentifier: Int
  let changedPersistentIdentifier: PersistentIdentifier
  let tombstone: HistoryTombstone<Model>
}

struct LedgerConfiguration: DataStoreConfiguration {
  typealias Store = Ledger

  var name = "ledger"
  var schema: Schema?

  static func == (lhs: LedgerConfiguration, rhs: LedgerConfiguration) -> Bool {
    lhs.name == rhs.name
  }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// Keeps snapshots and transactions in memory.
final class Ledger: DataStore, HistoryProviding {
  typealias Configuration = LedgerConfiguration
  typealias Snapshot = DefaultSnapshot
  typealias HistoryType = LedgerTransaction

  static var historyType: LedgerTransaction.Type { LedgerTransaction.self }

  let configuration: LedgerConfiguration
  let schema: Schema
  let identifier = "ledger"
  private var snapshots: [PersistentIdentifier: DefaultSnapshot] = [:]
  private var transactions: [LedgerTransaction] = []
  private var count = 0

  init(_ configuration: LedgerConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws
  {
    self.configuration = configuration
    schema = configuration.schema ?? Schema()
  }

  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> where T: PersistentModel {
    if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
    if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
    return DataStoreFetchResult(
      descriptor: request.descriptor,
      fetchedSnapshots: Array(snapshots.values)
    )
  }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
    var changes: [HistoryChange] = []
    let number = transactions.count + 1
    for snapshot in request.inserted {
      count += 1
      let permanent = try PersistentIdentifier.identifier(
        for: identifier,
        entityName: snapshot.persistentIdentifier.entityName,
        primaryKey: count
      )
      remapped[snapshot.persistentIdentifier] = permanent
      snapshots[permanent] = snapshot.copy(
        persistentIdentifier: permanent,
        remappedIdentifiers: remapped
      )
      changes.append(
        .insert(
          LedgerInsert<TrackModelChanges.Lodging>(
            changeIdentifier: changes.count,
            transactionIdentifier: number,
            changedPersistentIdentifier: permanent
          )
        )
      )
    }
    for snapshot in request.updated { snapshots[snapshot.persistentIdentifier] = snapshot }
    for snapshot in request.deleted {
      snapshots[snapshot.persistentIdentifier] = nil
      changes.append(
        .delete(
          LedgerDelete<TrackModelChanges.Lodging>(
            changeIdentifier: changes.count,
            transactionIdentifier: number,
            changedPersistentIdentifier: snapshot.persistentIdentifier,
            tombstone: HistoryTombstone([\.place: "gone"])
          )
        )
      )
    }
    let transaction = LedgerTransaction(
      transactionIdentifier: number,
      timestamp: Date(timeIntervalSince1970: Double(number)),
      changes: changes,
      storeIdentifier: identifier,
      author: request.editingState.author
    )
    transactions.append(transaction)
    return DataStoreSaveChangesResult(
      for: identifier,
      remappedIdentifiers: remapped,
      historyToken: transaction.token
    )
  }

  func fetchHistory(
    _ descriptor: HistoryDescriptor<LedgerTransaction>
  ) throws -> [LedgerTransaction] {
    guard let predicate = descriptor.predicate else { return transactions }
    return try transactions.filter { try predicate.evaluate($0) }
  }

  func deleteHistory(_ descriptor: HistoryDescriptor<LedgerTransaction>) throws {
    let deleted = Set(try fetchHistory(descriptor))
    transactions.removeAll { deleted.contains($0) }
  }
}
