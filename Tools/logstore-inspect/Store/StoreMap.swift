import LogEngine
import LogTools
import RowFormat
import Terminal

/// Every file of a store, with its part in the whole.
struct StoreMap {
  /// A file, or a folder of files that is listed as one.
  struct Entry {
    enum Kind: String { case manifest, checkpoint, segment, pack, blobs, other }

    var kind: Kind
    var number: UInt64?
    /// The first and the last commit that it has.
    var commits: ClosedRange<UInt64>?
    var fileByteCount: Int
    var usage: FileUsage?
    /// Space that was prepared and not written yet.
    var freeByteCount: Int?
    /// The time at which it was made, in microseconds since 1970-01-01T00:00:00Z.
    var created: Int64?
    var rowCount: Int?
    /// For a pack: the size that its rows would have in the log.
    var recordByteCount: Int?
    var state: String
    var damage: StorageError?

    /// Its name in a table: `segment 3`.
    var name: String { number.map { "\(kind) \($0)" } ?? "\(kind)" }
  }

  let path: String
  let now: Int64
  private(set) var entries: [Entry] = []
  /// The store as a whole, as far as it can be opened.
  let store: InspectedStore?
  /// The reason why it cannot be opened, if so.
  private let failure: ToolError?
  private(set) var usage: StoreUsage?
  private(set) var files: StoreFiles

  init(_ options: StoreOptions, in console: Console) throws {
    path = StorePath.normalized(options.path)
    now = console.now
    let inspection = StoreInspection(at: path, fileSystem: console.fileSystem, reads: options.reads)
    let manifests = try inspection.manifests()
    let segments = try inspection.segments()
    var opened: InspectedStore?
    var failure: ToolError?
    do {
      opened = try InspectedStore(options, .all, in: console)
    } catch {
      // Without files there is nothing to be shown; with some, they are.
      if manifests.isEmpty, segments.isEmpty { throw error }
      failure = error
    }
    (store, self.failure) = (opened, failure)
    files = try StoreFiles(under: path, on: console.fileSystem)
    do {
      usage = try opened?.engine.fileUsage()
    } catch let error as StorageError {
      opened?.recordDamage(error)
    }
    addManifests(manifests)
    addCheckpoints(try inspection.checkpoints())
    try addPacks(try inspection.packs())
    addSegments(segments)
    addBlobs()
    addOthers()
  }

  /// Throws the damage that was met.
  func finish() throws(ToolError) {
    if let failure { throw failure }
    if let damage = entries.lazy.compactMap(\.damage).first, store?.damage == nil {
      var error = ToolError(damage, at: path)
      error.status = .damaged
      throw error
    }
    try store?.finish()
  }
}

// MARK: Files

extension StoreMap {
  private mutating func addManifests(_ manifests: [ManifestDescription]) {
    for manifest in manifests {
      let isLast = manifest.number == manifests.last?.number
      let commit = manifest.content?.lastCommit.rawValue
      entries.append(
        Entry(
          kind: .manifest,
          number: manifest.number,
          commits: commit.map { $0...$0 },
          fileByteCount: manifest.fileByteCount,
          state: manifest.damage != nil
            ? "damaged"
            : isLast ? "counts" + (manifest.content?.isClean == true ? ", closed" : "") : "old",
          damage: manifest.damage
        )
      )
    }
  }

  private mutating func addCheckpoints(_ checkpoints: [CheckpointDescription]) {
    for checkpoint in checkpoints {
      let commit = checkpoint.content?.commit.rawValue
      entries.append(
        Entry(
          kind: .checkpoint,
          number: checkpoint.number,
          commits: commit.map { $0...$0 },
          fileByteCount: checkpoint.fileByteCount,
          // One that cannot be read costs time at the next opening, and nothing else.
          state: checkpoint.damage == nil ? "" : "damaged, ignored"
        )
      )
    }
  }

  private mutating func addPacks(_ packs: [PackDescription]) throws {
    for pack in packs {
      let content = pack.content
      entries.append(
        Entry(
          kind: .pack,
          number: UInt64(pack.pack.rawValue),
          commits: content.flatMap {
            $0.firstCommit <= $0.lastCommit ? $0.firstCommit.rawValue...$0.lastCommit.rawValue : nil
          },
          fileByteCount: pack.fileByteCount,
          usage: pack.isNamed ? usage.map { $0.packs[pack.pack] ?? FileUsage() } : nil,
          freeByteCount: 0,
          created: content?.created,
          rowCount: content?.rowCount,
          recordByteCount: content?.recordByteCount,
          state: pack.damage != nil
            ? "damaged" : pack.isNamed ? "\(content?.rowCount.grouped ?? "?") rows" : "orphan",
          damage: pack.isNamed ? pack.damage : nil
        )
      )
    }
  }

  private mutating func addSegments(_ segments: [SegmentDescription]) {
    let written = Dictionary(
      (store?.engine.statistics().segments ?? []).map { ($0.segment, $0.writtenByteCount) }
    ) { first, _ in first }
    for (index, segment) in segments.enumerated() {
      let isLast = index == segments.count - 1
      let next = isLast ? nil : segments[index + 1].header?.firstCommit.rawValue
      let last = next.map { $0 - 1 } ?? (isLast ? store?.view.sequence.rawValue : nil)
      let first = segment.header?.firstCommit.rawValue
      let end = segment.declaredEnd ?? written[segment.segment]
      // One that is no part of the log was packed, or was being made.
      let isKnown = written[segment.segment] != nil
      entries.append(
        Entry(
          kind: .segment,
          number: UInt64(segment.segment.rawValue),
          commits: first.flatMap { first in last.flatMap { $0 >= first ? first...$0 : nil } },
          fileByteCount: segment.fileByteCount,
          usage: isKnown ? usage.map { $0.segments[segment.segment] ?? FileUsage() } : nil,
          freeByteCount: end.map { max(0, segment.fileByteCount - $0) },
          created: segment.header?.created,
          state: segment.damage != nil
            ? "damaged"
            : segment.header == nil
              ? "being made" : isLast ? "last" : isKnown || store == nil ? "sealed" : "packed",
          damage: segment.damage
        )
      )
    }
  }

  private mutating func addBlobs() {
    let blobs = files.files(in: "blobs")
    if blobs.isEmpty { return }
    entries.append(
      Entry(
        kind: .blobs,
        fileByteCount: blobs.reduce(0) { $0 + $1.byteCount },
        state: blobs.count.counted("file")
      )
    )
  }

  private mutating func addOthers() {
    let known = ["log/", "pack/", "index/", "blobs/", "manifest.", "members/"]
    for file in files.files where !known.contains(where: { file.name.hasPrefix($0) }) {
      if StorePaths.lockNames.contains(file.name) { continue }
      entries.append(Entry(kind: .other, fileByteCount: file.byteCount, state: file.name.printable))
    }
  }
}

// MARK: Listing

extension StoreMap {
  /// The files as a table.
  var listing: Listing {
    var listing = Listing([
      .init(title: "file", name: "file"), .init(title: nil, name: "kind"),
      .init(title: nil, name: "number"),
      .init(title: "commits", name: "commits", alignment: .right),
      .init(title: "size", name: "bytes", alignment: .right),
      .init(title: "live", name: "live_bytes", alignment: .right),
      .init(title: "history", name: "history_bytes", alignment: .right),
      .init(title: "dead", name: "dead_bytes", alignment: .right),
      .init(title: "free", name: "free_bytes", alignment: .right, importance: .optional),
      .init(title: nil, name: "created"),
      .init(title: "age", name: "age_seconds", alignment: .right, importance: .optional),
      .init(title: "state", name: "state", importance: .optional),
    ])
    for entry in entries {
      listing.append([
        .text(entry.name), .text("\(entry.kind)"), entry.number.map { .number($0) } ?? .none,
        .text(entry.commits.map { $0.words }), .bytes(entry.fileByteCount),
        .bytes(entry.usage?.liveByteCount), .bytes(entry.usage?.historyByteCount),
        .bytes(entry.usage?.deadByteCount), .bytes(entry.freeByteCount), .time(entry.created),
        .age(entry.created.map { now - $0 }), .text(entry.state),
      ])
    }
    return listing
  }

  /// The sum in a line.
  var total: String {
    var text = "\(files.byteCount.byteCount) in \(files.count.counted("file"))"
    if let total = usage?.total {
      text += "; live \(total.liveByteCount.byteCount), history "
      text += "\(total.historyByteCount.byteCount), dead \(total.deadByteCount.byteCount)"
    }
    if let oldest = usage?.oldestCommit.rawValue, let newest = store?.view.sequence.rawValue {
      text += "; commits \(oldest.grouped) to \(newest.grouped) can be read"
    }
    return text
  }
}

extension ClosedRange<UInt64> {
  fileprivate var words: String {
    lowerBound == upperBound ? "\(lowerBound)" : "\(lowerBound)–\(upperBound)"
  }
}
