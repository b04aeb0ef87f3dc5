import LogEngine
import LogTools
import RowFormat
import Terminal

/// The figures that a report shows of a store.
struct StoreReport {
  /// The state of the log after a commit.
  struct Point {
    /// Microseconds since 1970-01-01T00:00:00Z.
    var time: Int64
    var commit: UInt64
    /// The number of bytes ever written to the log.
    var logByteCount: Int
    var rowCount: Int
  }

  /// The changes of an entity, as far as the log still has them.
  struct Entity {
    var name: String
    var rowCount: Int
    var usage: FileUsage
    var insertCount = 0
    var updateCount = 0
    var deleteCount = 0
  }

  let map: StoreMap
  /// The time at which it was made, in microseconds since 1970-01-01T00:00:00Z.
  var now: Int64 { map.now }
  private(set) var growth = Thinned<Point>(limit: 480)
  private(set) var records = RecordSizes()
  private(set) var entities: [Entity] = []
  private(set) var commitCount = 0
  /// The last commit that is not in the log any more.
  private(set) var packedThrough: UInt64?

  init(_ map: StoreMap, _ visibility: InspectedStore.Visibility, _ console: Console) throws {
    self.map = map
    guard let store = map.store else { return }
    var entities: [UInt16: Entity] = [:]
    for table in store.catalogue.tables {
      entities[table.number] = Entity(
        name: table.name,
        rowCount: store.view.rowCount(of: table.number),
        usage: map.usage?.tables[table.number] ?? FileUsage()
      )
    }
    try readLog(of: store, &entities, console)
    self.entities =
      entities
      .filter { number, _ in
        visibility == .all || !(entities[number]?.name.hasPrefix("_") ?? false)
      }
      .map(\.value).sorted {
        ($1.usage.recordByteCount, $0.name) < ($0.usage.recordByteCount, $1.name)
      }
  }

  private mutating func readLog(
    of store: InspectedStore,
    _ entities: inout [UInt16: Entity],
    _ console: Console
  ) throws {
    let last = store.view.sequence.rawValue
    var bar = ProgressBar(
      "reading",
      total: Int(clamping: last),
      isShown: console.screen.showsProgress
    )
    var logByteCount = Int(clamping: store.engine.inspection.firstLogPosition ?? 0)
    var netRowCount = 0
    var points: [Point] = []
    let packed = try store.forEachCommit { commit in
      bar.update(Int(clamping: commit.sequence.rawValue))
      commitCount += 1
      logByteCount = logByteCount.addingClamped(commit.byteCount)
      try commit.forEachChange { change in
        records.add(change.record)
        let table = change.reference.table
        switch change.kind {
        case .insert:
          netRowCount += 1
          entities[table]?.insertCount += 1
        case .delete:
          netRowCount -= 1
          entities[table]?.deleteCount += 1
        case .update: entities[table]?.updateCount += 1
        case .catalogue: break
        }
        return .proceed
      }
      growth.append(
        Point(
          time: commit.microseconds,
          commit: commit.sequence.rawValue,
          logByteCount: logByteCount,
          rowCount: netRowCount
        )
      )
      return .proceed
    }
    bar.finish()
    packedThrough = packed?.rawValue
    // The rows before the first commit of the log: the present ones, less those it added.
    let rowCount = entities.values.reduce(0) { $0.addingClamped($1.rowCount) }
    let first = rowCount - netRowCount
    points = growth.elements
    growth = Thinned(limit: 480)
    for var point in points {
      point.rowCount += first
      growth.append(point)
    }
  }
}

extension StoreInspection {
  /// The log position at which the first segment begins; `nil` if none can be read.
  fileprivate var firstLogPosition: UInt64? {
    (try? segments())?.lazy.compactMap(\.header?.logPosition).first
  }
}

/// A sequence of which only as many elements are kept as a picture has room for, evenly, and always the last.
struct Thinned<Element> {
  private var kept: [Element] = []
  private var last: Element?
  private var interval = 1
  private var count = 0
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  var elements: [Element] {
    if let last, (count - 1) % interval != 0 { return kept + [last] }
    return kept
  }

  mutating func append(_ element: Element) {
    last = element
    if count % interval == 0 { kept.append(element) }
    count += 1
    guard kept.count > limit else { return }
    kept = kept.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    interval *= 2
  }
}

/// The number of records by size and kind.
struct RecordSizes {
  /// By the power of two the size does not exceed.
  private(set) var counts: [Int: [RecordKind: Int]] = [:]
  private(set) var count = 0
  private(set) var byteCount = 0

  mutating func add(_ record: RecordDescription) {
    let size = record.byteCount
    let power = size <= 1 ? 0 : Int.bitWidth - (size - 1).leadingZeroBitCount
    counts[power, default: [:]][record.kind, default: 0] += 1
    count += 1
    byteCount += size
  }

  /// The powers from the smallest to the largest there is.
  var powers: ClosedRange<Int>? {
    guard let least = counts.keys.min(), let most = counts.keys.max() else { return nil }
    return least...most
  }
}
