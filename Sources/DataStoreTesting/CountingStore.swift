import ModelRuntime
import Synchronization

/// The calls of a store by a context.
final class CallLog: Sendable {
  struct Calls {
    var saves = 0
    /// Fetches that were answered, by entity.
    var fetches: [String: Int] = [:]
  }

  private let calls = Mutex(Calls())

  var current: Calls { calls.withLock { $0 } }

  func count(_ change: (inout Calls) -> Void) { calls.withLock { change(&$0) } }
  func clear() { calls.withLock { $0 = Calls() } }
}

/// Opens a store behind a counter of the calls it gets.
///
/// Whatever other interfaces the store has, behind the counter it is asked in snapshots.
struct CountingConfiguration<Base: DataStore>: DataStoreConfiguration {
  typealias Store = CountingStore<Base>

  var base: Base.Configuration
  let log: CallLog

  var name: String { base.name }
  var schema: Schema? {
    get { base.schema }
    set { base.schema = newValue }
  }

  func validate() throws { try base.validate() }

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.base == rhs.base }
  func hash(into hasher: inout Hasher) { hasher.combine(base) }
}

final class CountingStore<Base: DataStore>: DataStore {
  typealias Configuration = CountingConfiguration<Base>
  typealias Snapshot = Base.Snapshot

  private let base: Base
  let configuration: Configuration
  var identifier: String { base.identifier }
  var schema: Schema { base.schema }

  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    base = try Base(configuration.base, migrationPlan: migrationPlan)
  }

  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, Base.Snapshot> where T: PersistentModel {
    let result = try base.fetch(request)
    configuration.log.count { $0.fetches[Schema.entityName(for: T.self), default: 0] += 1 }
    return result
  }

  func save(
    _ request: DataStoreSaveChangesRequest<Base.Snapshot>
  ) throws -> DataStoreSaveChangesResult<Base.Snapshot> {
    configuration.log.count { $0.saves += 1 }
    return try base.save(request)
  }

  func erase() throws { try base.erase() }
}
