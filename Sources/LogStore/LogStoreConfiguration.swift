public import Foundation
public import LogEngine
public import ModelRuntime

#if Logging
public import Logging
#endif
#if Metrics
public import CoreMetrics
#endif
#if Tracing
public import Tracing
#endif

/// Opens a ``LogStore``: names its folder, and the durability that a save promises.
///
///     let container = try ModelContainer(
///       for: Trip.self, configurations: LogStoreConfiguration(url: folder, durability: .relaxed))
public struct LogStoreConfiguration: UniquenessConfiguring, MergePolicyConfiguring, Sendable {
  /// The store that this configuration opens.
  public typealias Store = LogStore

  public let name: String
  public var schema: Schema?
  /// The folder of the store; it is made if it does not exist.
  public let url: URL
  /// Whether the store may be written to; `false` opens it beside a writer in another process.
  public let allowsSave: Bool
  /// The durability that a save promises.
  public let durability: Durability
  /// The action of a save for a new model whose unique values another model has.
  public var uniquenessPolicy: UniquenessPolicy
  /// The action of a save for an attribute that another save has changed since it was read; by default, the last save wins.
  public var mergePolicy = MergePolicy.lastWriter
  /// The action of an opening for a store that a newer version of the models has written; by default, it throws.
  public var newerStores = NewerStorePolicy.refuse
  /// The maximum size, in bytes, of a value with external storage that is kept in its row.
  ///
  /// A larger one gets a file of its own, which is read when the property is, and not with the model. It may
  /// be changed from one opening to the next; values stay where they are until they are set again.
  public var externalStorageThreshold = LogStoreConfiguration.defaultExternalStorageThreshold

  /// Whether other processes may save to the store, too; by default, this one alone.
  ///
  ///     configuration.writers = .severalProcesses
  ///
  /// See <doc:SeveralProcesses>.
  public var writers = Writers.oneProcess
  /// The longest wait of a save, or an opening, for the turn of this process if several save; without end if `nil`.
  ///
  /// A turn lasts some milliseconds, unless a process was stopped (`SIGSTOP`) in the middle of its own. After this time a save
  /// throws `StorageError.turnTimeout`, which names that process; nothing was saved, and the same save may be tried again.
  ///
  ///     configuration.turnTimeout = .seconds(10)
  public var turnTimeout: Duration?

  /// Whether a container of this process that has the store open shares it; otherwise two are as two processes.
  package var sharesOpenStore = true

  /// The rules by which the store reclaims the space of replaced and deleted values; by default in the background.
  public var compaction = Compaction.automatic

  /// The rules by which models are deleted once they are old enough; none by default.
  ///
  ///     configuration.expirations = [.init(Reading.self, after: .seconds(30 * 86_400), since: \.takenAt)]
  ///
  /// There is at most one rule for a class. The rules are not written into the store: they hold while a container with this
  /// configuration is open.
  public var expirations: [Expiration]

  /// The interval between two looks for models that have expired, from the end of one to the next; if `nil`, the store looks
  /// only when ``LogStore/expire()`` is called.
  ///
  /// The first look is a second after the opening. An index that begins with the date makes a look cheap. Without one, the
  /// store waits for at least a hundred times as long as the last look took, and as it took to try models that a delete rule
  /// keeps. The shortest interval is ten milliseconds.
  /// While a machine sleeps, no time passes here; when it wakes, what has expired meanwhile is found by the next look.
  public var expirationInterval: Duration? = .seconds(60)

  /// The clocks that tell what has expired, and when to look.
  package var expirationClock = ExpirationClock()

  /// The permissions of a new store: by default only the program's user may read and write it.
  ///
  /// An existing store keeps its permissions, whatever is given here; `chmod` changes them, and new files get
  /// those of the newest files.
  ///
  ///     configuration.permissions = .groupReads  // 0640 in folders of 0750
  public var permissions = StorePermissions.owner

  /// Receives the store's events: opening, segments, checkpoints, compactions, and everything that needs an
  /// operator; successful saves and fetches are no events.
  ///
  /// `EngineEvent` says what the handler may do, and on which thread it is called.
  public var onEvent: EngineEventHandler?

  /// The longest time of a fetch, a count or an aggregate in the store that is not reported; `nil` reports none.
  ///
  /// A slow one is handed to ``onSlowFetch`` with its plan, and logged as a warning where there is a logger. Watching
  /// costs some hundred nanoseconds a fetch, and some for each row that is read.
  public var slowFetchThreshold: Duration?

  /// Called with the plan of each fetch that took longer than ``slowFetchThreshold``.
  ///
  /// On the thread that fetches, after the store has answered; what the context does with the answer is not part of
  /// the plan. It should return soon, and must not use the context.
  ///
  ///     configuration.slowFetchThreshold = .milliseconds(50)
  ///     configuration.onSlowFetch = { plan in print(plan) }
  public var onSlowFetch: (@Sendable (QueryPlan) -> Void)?

  #if Logging
  /// Logs the store's events, with the configuration's name as `store`; `nil` for no log.
  ///
  /// Only with the package's trait `Logging`.
  public var logger: Logger?
  #endif

  #if Metrics
  /// Makes the store's metrics, with the configuration's name as the dimension `store`.
  ///
  /// There are none if it is `nil`; those of the program's own backend are made by `MetricsSystem.factory`.
  /// Only with the package's trait `Metrics`.
  public var metricsFactory: (any MetricsFactory)?
  #endif

  #if Tracing
  /// Opens a span for each save and each fetch, with the configuration's name as the attribute `store`; none if it is `nil`.
  ///
  /// The program's own is `InstrumentationSystem.tracer`. A span belongs to the one that is open where
  /// ``/ModelRuntime/ModelContainer/read(_:)`` or ``/ModelRuntime/ModelContainer/write(author:_:)`` was called, or where the
  /// context is used. Only with the package's trait `Tracing`.
  public var tracer: (any Tracer)?
  #endif

  /// The size of the cache of unpacked rows, in bytes.
  ///
  /// A packed row that is not in the cache is unpacked together with its neighbours, or cut out of their columns, which takes some 5 to
  /// 30 microseconds; any other read takes less than one. Memory is taken as rows are read, and never for scans.
  public var cacheByteCount = LogStoreConfiguration.defaultCacheByteCount

  /// Limit, in bytes, of the memory for the groups and values of one aggregate: one that needs more throws
  /// `SwiftDataError.aggregateTooLarge` instead of taking it.
  ///
  /// A group takes some 200 bytes, each value that a percentile needs up to 24, and each that different values are
  /// counted of some 300, besides long texts.
  public var aggregateMemoryLimit = LogStoreConfiguration.defaultAggregateMemoryLimit

  /// A quarter of the available memory, as for ``defaultCacheByteCount``.
  public static let defaultAggregateMemoryLimit = availableMemory / 4

  /// A 64th of the available memory, at least 32 MiB and at most 256 MiB, and never more than a tenth.
  ///
  /// The available memory is the limit of the process's control group, in a container for instance, or else the
  /// machine's.
  public static let defaultCacheByteCount = defaultCacheByteCount(memoryLimit: availableMemory)

  private static let availableMemory =
    PosixFileSystem().memoryLimit ?? Int(clamping: ProcessInfo.processInfo.physicalMemory)

  static func defaultCacheByteCount(memoryLimit: Int) -> Int {
    min(max(memoryLimit / 64, 32 << 20), 256 << 20, memoryLimit / 10)
  }

  /// 128 KiB: a save that writes a file of its own for a value takes as long as some four that do not.
  public static let defaultExternalStorageThreshold = 128 << 10

  /// Describes a store in a folder.
  ///
  /// - Parameters:
  ///   - name: A name by which the container tells its stores apart; by default the folder's.
  ///   - schema: The models the store keeps; by default the container's.
  ///   - url: The folder of the store.
  ///   - allowsSave: Whether the store may be written to.
  ///   - durability: The guarantee of a save that has returned.
  ///   - uniquenessPolicy: The action of a save for a new model whose unique values another model has.
  ///   - expirations: The rules by which models are deleted once they are old enough.
  public init(
    _ name: String? = nil,
    schema: Schema? = nil,
    url: URL,
    allowsSave: Bool = true,
    durability: Durability = .full,
    uniquenessPolicy: UniquenessPolicy = .upsert,
    expirations: [Expiration] = []
  ) {
    self.uniquenessPolicy = uniquenessPolicy
    self.expirations = expirations
    self.name = name ?? url.deletingPathExtension().lastPathComponent
    self.schema = schema
    self.url = url
    self.allowsSave = allowsSave
    self.durability = durability
  }

  /// Describes a store in a folder, every part named.
  public init(name: String, schema: Schema? = nil, url: URL, durability: Durability = .full) {
    self.init(name, schema: schema, url: url, durability: durability)
  }

  public static func == (lhs: LogStoreConfiguration, rhs: LogStoreConfiguration) -> Bool {
    lhs.name == rhs.name && lhs.url == rhs.url
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(url)
  }

  /// Checks the name, the place, the limits, and what is to expire.
  ///
  /// - Throws: ``/ModelRuntime/SwiftDataError`` for a file name that no file system takes, and for a negative duration or size;
  ///   ``LogStoreError/expiration(entity:property:reason:)`` for a rule that cannot be followed with the schema.
  public func validate() throws {
    try StoreLocation.validate(url, name: name)
    try checkLimits()
    _ = try expirationRules()
  }

  /// Refuses negative limits: each would mean something else, or nothing, further down.
  private func checkLimits() throws {
    func check<Limit: Comparable>(_ name: String, _ limit: Limit?, zero: Limit) throws {
      guard let limit, limit < zero else { return }
      throw SwiftDataError.loadIssueModelContainer.explained(
        "configuration \"\(self.name)\": expected \(name) to be zero or more, found \(limit)"
      )
    }
    try check("cacheByteCount", cacheByteCount, zero: 0)
    try check("externalStorageThreshold", externalStorageThreshold, zero: 0)
    try check("aggregateMemoryLimit", aggregateMemoryLimit, zero: 0)
    try check("expirationInterval", expirationInterval, zero: .zero)
    try check("turnTimeout", turnTimeout, zero: .zero)
    try check("slowFetchThreshold", slowFetchThreshold, zero: .zero)
    try check("compaction.historyAge", compaction.historyAge, zero: .zero)
    try check("compaction.historyByteCount", compaction.historyByteCount, zero: 0)
    if case .relaxed(let interval) = durability {
      try check("the interval of .relaxed(interval:)", interval, zero: .zero)
    }
  }
}

extension LogStoreConfiguration {
  /// The processes that may save to a store while it is open.
  public enum Writers: Hashable, Sendable {
    /// This process: while a container has the store open, other processes can only read it.
    case oneProcess
    /// Any number of processes of one host, all of which say so. They save in turns; each fetch sees what the others
    /// have saved.
    case severalProcesses
  }

  /// The durability that a save promises.
  public enum Durability: Hashable, Sendable {
    /// The changes are on the disk: they survive a power cut.
    case full
    /// The changes are with the operating system: they survive the process, and may be lost in a power
    /// cut, the last ones first, at most as old as the interval.
    case relaxed(interval: Duration)

    /// Relaxed, with a second between what is saved and what is on the disk.
    public static let relaxed = Durability.relaxed(interval: .seconds(1))
  }
}
