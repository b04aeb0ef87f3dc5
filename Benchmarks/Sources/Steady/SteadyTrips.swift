import Workloads

/// The rows that are replaced, and the rows that replace them.
struct SteadyTrips {
  let rows: Int
  /// The size of a row when written plainly: the measure for the bytes written and kept.
  let bytesPerRow: Double
  private let pool: [TripRecord]

  static let rowsPerCommit = 10

  init(rows: Int) {
    self.rows = rows
    pool = TripGenerator().records(0..<16_384)
    var coding = PlainCoding()
    let sum = pool.reduce(0) { $0 + coding.encode($1).count }
    bytesPerRow = Double(sum) / Double(pool.count)
  }

  func fill(_ store: any TripStore) throws {
    let generator = TripGenerator()
    for first in stride(from: 1, through: UInt64(rows), by: 10_000) {
      try store.insert(generator.records(first..<first + 10_000)[...], firstKey: first)
    }
  }

  /// Draws the rows of the next commit: distinct keys, ascending.
  func draw(_ random: inout SplitMix64, into records: inout [TripRecord]) {
    var keys: [UInt64] = []
    while keys.count < Self.rowsPerCommit {
      let key = UInt64(1 + random.next(below: rows))
      if !keys.contains(key) { keys.append(key) }
    }
    records.removeAll(keepingCapacity: true)
    for key in keys.sorted() {
      var record = pool[random.next(below: pool.count)]
      record.id = key
      records.append(record)
    }
  }
}
