import Floor
import Foundation
import GRDBPeer
import Harness
import ModelStores
import PeerStores
import Workloads

/// The same trips in every contender's store, and the same questions.
struct TripQueries {
  private let plan: Plan
  private let trips: ScatteredTrips
  private let plain: [Querying]
  /// The contenders whose rows are in packs.
  private let packed: [Querying]
  /// The contenders whose stores have an index on each attribute that is asked for.
  private let indexed: [Querying]

  /// Makes the stores and fills them.
  ///
  /// - Parameters:
  ///   - plan: Gives the number of trips.
  ///   - folder: The folder of the stores.
  /// - Throws: What a store throws.
  init(_ plan: Plan, _ folder: URL) throws {
    self.plan = plan
    let trips = ScatteredTrips(count: plan.choose(quick: 200_000, full: 1_000_000))
    self.trips = trips
    let place = { (name: String) in folder.appending(path: name) }
    let floor = try FloorReads(path: place("floor").path, count: trips.count, trips.record)
    let settings = "rows of bytes in one mapping, looked at one by one"
    var plain = [
      Querying(
        contender: .floor,
        settings: settings,
        count: { floor.count(destination: $0, ratingAbove: $1) },
        readEarliest: floor.readEarliest,
        readFirst: floor.readFirst
      )
    ]
    for peer in [.models] + Peer.installed {
      plain.append(try Self.fill(peer, place("plain"), trips))
    }
    plain += try GRDBContender.queries(place("plain/sqlite/trips.sqlite"))
    self.plain = plain
    packed = [try PackedModelTrips(folder, trips).querying]
    var indexed = [try IndexedModelTrips(folder, trips).querying]
    for peer in Peer.indexed { indexed.append(try Self.fill(peer, place("indexed"), trips)) }
    let remark = ", indexes on destination and startDate"
    indexed += try GRDBContender.queries(place("indexed/sqlite/trips.sqlite"), remark: remark)
    self.indexed = indexed
  }

  func run(_ report: Report) throws {
    report.add(try counts(.scan, plain))
    report.add(try earliest(.top100, plain))
    report.add(try fetches(.fetchAll, plain))
    report.add(try counts(.packedScan, packed))
    report.add(try earliest(.packedTop100, packed))
    report.add(try fetches(.packedFetchAll, packed))
    report.add(try counts(.scanIndexed, indexed))
    report.add(try earliest(.top100Indexed, indexed))
  }

  private static func fill(_ peer: Peer, _ folder: URL, _ trips: ScatteredTrips) throws -> Querying
  {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let store = try peer.open(folder.appending(path: peer.contender.rawValue), .relaxed)
    for batch in trips.batches { try store.insert(batch.records[...], firstKey: batch.firstKey) }
    return Querying(
      contender: peer.contender,
      settings: peer.settings(.relaxed),
      count: { try store.count(destination: $0, ratingAbove: $1) },
      readEarliest: store.readEarliest,
      readFirst: store.readFirst
    )
  }

  private func counts(_ workload: Workload, _ contenders: [Querying]) throws -> [Standing] {
    let wanted = trips.wantedDestination
    return try compare(workload, contenders, rows: trips.count, expected: trips.matchCount) {
      try $0.count(wanted, 3)
    }
  }

  private func earliest(_ workload: Workload, _ contenders: [Querying]) throws -> [Standing] {
    try compare(workload, contenders, rows: trips.count, expected: trips.earliestSum(100)) {
      try $0.readEarliest(100)
    }
  }

  private func fetches(_ workload: Workload, _ contenders: [Querying]) throws -> [Standing] {
    let rows = 100_000
    return try compare(workload, contenders, rows: rows, expected: trips.firstSum(rows)) {
      try $0.readFirst(rows)
    }
  }

  private func compare(
    _ workload: Workload,
    _ contenders: [Querying],
    rows: Int,
    expected: Int,
    _ ask: @escaping (Querying) throws -> Int
  ) throws -> [Standing] {
    let entrants = contenders.map { contender in
      Entrant(
        workload,
        contender.contender,
        settings: contender.settings,
        comparedWith: contender.contender == .floor ? nil : .init(workload.unpacked, .floor)
      ) {
        var answer = 0
        var sample = try timeRows(rows) { answer = try ask(contender) }
        try WrongAnswer.check(answer, is: expected, contender.contender)
        sample.figures[.milliseconds] =
          sample.figures[.rowsPerSecond].map { Double(rows) * 1e3 / $0 }
        return sample
      }
    }
    return try RoundRobin(rounds: plan.choose(quick: 3, full: 11), seconds: 30, entrants).run()
  }
}

extension Workload {
  /// The same workload on rows that are not packed.
  fileprivate var unpacked: Workload {
    switch self {
    case .packedScan: .scan
    case .packedTop100: .top100
    case .packedFetchAll: .fetchAll
    default: self
    }
  }
}
