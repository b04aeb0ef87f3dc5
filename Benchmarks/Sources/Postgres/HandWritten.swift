import Foundation
import Workloads

/// The code of a programmer who knows SQL and libpq well, on the same server.
final class HandWritten {
  /// Whether a save records its author and changes, as the store does.
  enum History { case kept, none }

  let session: Session
  private let history: History
  private var nextKey: Int64 = 1

  /// Makes tables like those of the store, in a schema of their own.
  init(_ url: String, schema: String, _ history: History) throws {
    session = try Session(url)
    self.history = history
    try session.execute(
      """
      CREATE SCHEMA \(schema);
      SET search_path = \(schema);
      CREATE TABLE trip (
        id bigint PRIMARY KEY, name text COLLATE "C", destination text COLLATE "C", start_date double precision,
        end_date double precision, rating bigint, is_favorite boolean, note text COLLATE "C", tag text COLLATE "C"
      );
      CREATE TABLE commit (
        id uuid PRIMARY KEY, xid bigint NOT NULL UNIQUE DEFAULT pg_current_xact_id()::text::bigint,
        at timestamptz NOT NULL DEFAULT clock_timestamp(), author text, source uuid
      );
      CREATE TABLE change (
        xid bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint, ordinal integer NOT NULL, row bigint NOT NULL,
        kind text NOT NULL, columns text[], preserved jsonb, PRIMARY KEY (xid, ordinal)
      );
      CREATE TABLE harbour (id bigint PRIMARY KEY, name text COLLATE "C");
      CREATE TABLE call (
        id bigint PRIMARY KEY, ship text COLLATE "C", tonnage bigint, harbour bigint, rank_harbour bigint
      );
      CREATE INDEX ON call (harbour, rank_harbour);
      """
    )
    try session.prepare("begin", "BEGIN")
    try session.prepare("commit", "COMMIT")
    try session.prepare(
      "insert",
      """
      INSERT INTO trip SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::double precision[],
        $5::double precision[], $6::bigint[], $7::boolean[], $8::text[], $9::text[])
      """
    )
    // For one row there is no need of arrays.
    try session.prepare(
      "insert-one",
      "INSERT INTO trip VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
    )
    try session.prepare(
      "note-change",
      "INSERT INTO change (row, ordinal, kind) VALUES ($1, 0, 'insert')"
    )
    try session.prepare(
      "note-commit",
      "INSERT INTO commit (id, source) VALUES ($1::uuid, $1::uuid)"
    )
    try session.prepare(
      "note-changes",
      """
      INSERT INTO change (row, ordinal, kind)
      SELECT r, o - 1, 'insert' FROM unnest($1::bigint[]) WITH ORDINALITY AS u(r, o)
      """
    )
    try session.prepare("fetch", "SELECT * FROM trip ORDER BY id LIMIT 10000")
    try session.prepare("harbours", "SELECT id, name FROM harbour ORDER BY id")
    try session.prepare(
      "calls",
      """
      SELECT id, ship, tonnage, harbour FROM call WHERE harbour = ANY ($1::bigint[])
      ORDER BY harbour, rank_harbour, id
      """
    )
    try session.prepare(
      "insert-harbours",
      "INSERT INTO harbour SELECT n, 'harbour ' || n FROM generate_series(1, $1::bigint) AS n"
    )
    try session.prepare(
      "insert-calls",
      """
      INSERT INTO call SELECT n, 'ship ' || n, n, (n - 1) % $1::bigint + 1, n
      FROM generate_series(1, $1::bigint * $2::bigint) AS n
      """
    )
  }

  func save(_ records: ArraySlice<TripRecord>) throws {
    if let record = records.first, records.count == 1 { return try save(record) }
    let keys = nextKey..<(nextKey + Int64(records.count))
    nextKey = keys.upperBound
    func append(_ value: String, _ bytes: inout [UInt8]) -> Bool {
      bytes.append(contentsOf: value.utf8)
      return true
    }
    func append(_ value: Double, _ bytes: inout [UInt8]) -> Bool {
      bytes.append(bigEndian: value.bitPattern)
      return true
    }
    func append(_ value: Int64, _ bytes: inout [UInt8]) -> Bool {
      bytes.append(bigEndian: value)
      return true
    }
    let (bigint, text, double, boolean): (UInt32, UInt32, UInt32, UInt32) = (20, 25, 701, 16)
    var values = Values()
    values.append(keys, type: bigint) { append($0, &$1) }
    values.append(records, type: text) { append($0.name, &$1) }
    values.append(records, type: text) { append($0.destination, &$1) }
    values.append(records, type: double) { append($0.startDate, &$1) }
    values.append(records, type: double) { append($0.endDate, &$1) }
    values.append(records, type: bigint) { append($0.rating, &$1) }
    values.append(records, type: boolean) {
      $1.append($0.isFavorite ? 1 : 0)
      return true
    }
    values.append(records, type: text) { append($0.note, &$1) }
    values.append(records, type: text) { record, bytes in
      guard let tag = record.tag else { return false }
      return append(tag, &bytes)
    }
    guard history == .kept else {
      // One statement is a transaction.
      _ = try session.run("insert", values)
      return
    }
    var commit = Values()
    commit.append(UUID())
    var rows = Values()
    rows.append(keys, type: bigint) { append($0, &$1) }
    try session.runInTransaction([
      ("note-commit", commit), ("insert", values), ("note-changes", rows),
    ])
  }

  private func save(_ record: TripRecord) throws {
    var values = Values()
    values.append(nextKey)
    values.append(record.name)
    values.append(record.destination)
    values.append(record.startDate)
    values.append(record.endDate)
    values.append(record.rating)
    values.append(record.isFavorite)
    values.append(record.note)
    values.append(record.tag)
    var row = Values()
    row.append(nextKey)
    nextKey += 1
    guard history == .kept else {
      _ = try session.run("insert-one", values)
      return
    }
    var commit = Values()
    commit.append(UUID())
    try session.runInTransaction([
      ("note-commit", commit), ("insert-one", values), ("note-change", row),
    ])
  }

  /// Makes objects of trips, and reads every attribute.
  func fetch() throws -> Int {
    let rows = try session.run("fetch")
    let trips = (0..<rows.count).map { PlainTrip(rows, $0) }
    return trips.reduce(0) { $0 + $1.checksum }
  }

  func fill(harbours: Int, callsPerHarbour: Int) throws {
    var values = Values()
    values.append(Int64(harbours))
    _ = try session.run("insert-harbours", values)
    values.append(Int64(callsPerHarbour))
    _ = try session.run("insert-calls", values)
    try session.execute("ANALYZE harbour, call")
  }

  /// Makes objects of harbours and their calls, two statements for all of them.
  func addUpTonnage() throws -> Int {
    let harbourRows = try session.run("harbours")
    var harbours: [PlainHarbour] = []
    var byKey: [Int64: PlainHarbour] = [:]
    for row in 0..<harbourRows.count {
      let harbour = PlainHarbour(key: harbourRows.integer(row, 0), name: harbourRows.text(row, 1))
      harbours.append(harbour)
      byKey[harbour.key] = harbour
    }
    var values = Values()
    values.append(harbours, type: 20) {
      $1.append(bigEndian: $0.key)
      return true
    }
    let calls = try session.run("calls", values)
    for row in 0..<calls.count {
      byKey[calls.integer(row, 3)]?.calls
        .append(PlainCall(ship: calls.text(row, 1), tonnage: Int(calls.integer(row, 2))))
    }
    return harbours.reduce(0) { sum, harbour in
      harbour.calls.reduce(sum) { $0 + $1.tonnage + $1.ship.utf8.count }
    }
  }
}

private final class PlainTrip: TripAttributes {
  let name: String
  let destination: String
  let startDate: Double
  let endDate: Double
  let rating: Int64
  let isFavorite: Bool
  let note: String
  let tag: String?

  init(_ rows: Rows, _ row: Int) {
    name = rows.text(row, 1)
    destination = rows.text(row, 2)
    startDate = rows.double(row, 3)
    endDate = rows.double(row, 4)
    rating = rows.integer(row, 5)
    isFavorite = rows.bool(row, 6)
    note = rows.text(row, 7)
    tag = rows.optionalText(row, 8)
  }
}

private final class PlainHarbour {
  let key: Int64
  let name: String
  var calls: [PlainCall] = []

  init(key: Int64, name: String) {
    self.key = key
    self.name = name
  }
}

private final class PlainCall {
  let ship: String
  let tonnage: Int

  init(ship: String, tonnage: Int) {
    self.ship = ship
    self.tonnage = tonnage
  }
}
