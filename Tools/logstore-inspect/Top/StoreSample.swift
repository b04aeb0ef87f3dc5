import LogEngine
import Terminal

/// The state of a store at one moment, as far as its files tell.
struct StoreSample {
  /// The time of the sample, in microseconds since 1970-01-01T00:00:00Z.
  let time: Int64
  let commit: UInt64
  /// The rows of each entity that is shown, by its name.
  let rows: [(entity: String, count: Int)]
  /// The number of bytes ever appended to the log.
  let logByteCount: Int
  let fileByteCount: Int
  let liveByteCount: Int
  /// The number of bytes that are not needed, apart from the history.
  let deadByteCount: Int
  let historyByteCount: Int
  let segments: Set<SegmentID>
  let packs: Set<PackID>

  /// Looks at a store.
  ///
  /// - Parameters:
  ///   - store: The store, refreshed.
  ///   - console: The environment with its files and the time.
  /// - Throws: What listing the folder throws.
  init(of store: InspectedStore, in console: Console) throws(StorageError) {
    time = console.now
    commit = store.view.sequence.rawValue
    rows = store.tables.map { ($0.name, store.view.rowCount(of: $0.number)) }
    let statistics = store.engine.statistics()
    logByteCount = statistics.logByteCount
    liveByteCount = statistics.liveByteCount
    historyByteCount = statistics.historyByteCount
    deadByteCount = statistics.deadByteCount
    segments = Set(statistics.segments.map(\.segment))
    packs = Set(statistics.packs.map(\.pack))
    fileByteCount = try StoreFiles(under: store.path, on: console.fileSystem).byteCount
  }

  var rowCount: Int { rows.reduce(0) { $0 + $1.count } }
}

/// The changes of a store between two samples.
struct StorePace {
  let from: StoreSample
  let to: StoreSample

  /// The growth of a figure in a second; `nil` if the clock did not advance.
  func perSecond(_ amount: (StoreSample) -> Int) -> Double? {
    perSecond(amount(to) - amount(from))
  }

  private func perSecond(_ growth: Int) -> Double? {
    let elapsed = to.time - from.time
    return elapsed > 0 ? Double(growth) * 1e6 / Double(elapsed) : nil
  }

  var commitsPerSecond: Double? { perSecond { Int(clamping: $0.commit) } }

  /// The compaction that was completed, in words; `nil` if there was none.
  var compaction: String? {
    let packed = from.segments.subtracting(to.segments).count
    let replaced = from.packs.subtracting(to.packs).count
    let made = to.packs.subtracting(from.packs).count
    if packed == 0, replaced == 0 { return nil }
    var sources: [String] = []
    if packed > 0 { sources.append(packed.counted("segment")) }
    if replaced > 0 { sources.append(replaced.counted("pack")) }
    return "\(sources.joined(separator: " and ")) into \(made.counted("pack"))"
  }

  /// The growth of each entity's rows: most changed first, and of these the largest.
  var rows: [(entity: String, count: Int, perSecond: Double?)] {
    var earlier: [String: Int] = [:]
    for (entity, count) in from.rows { earlier[entity] = count }
    return to.rows
      .map { (entity: $0.entity, count: $0.count, growth: $0.count - (earlier[$0.entity] ?? 0)) }
      .sorted { (-abs($0.growth), -$0.count, $0.entity) < (-abs($1.growth), -$1.count, $1.entity) }
      .map { (entity: $0.entity, count: $0.count, perSecond: perSecond($0.growth)) }
  }
}
