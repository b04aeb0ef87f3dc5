import LogEngine
import ModelRuntime
import RowFormat

/// Brings the ends of relationships in agreement that had no inverse when their rows were written, and have one now.
///
/// Such rows may refer to rows that are gone, and what they refer to does not say so. References to what is gone become nil,
/// if they may be nil, and what is stored at the other end is written there. Of two that would be the one of a to-one, the
/// first keeps it.
///
/// If programs that lacked one end have written the other since, the other counts: what they saved last stays, and what they left
/// alone agrees anyway.
struct InverseGain {
  /// A relationship of a row.
  private struct End: Hashable {
    let row: RowReference
    let column: Int
  }

  private let store: TableStore
  private let view: ReadView
  /// The references that replace the stored ones, by end.
  private var values: [End: [RowReference]] = [:]
  /// For ends of one-to-one relationships, the other end.
  private var pairs: [End: End] = [:]
  /// The references that the lists at other ends must hold.
  private var owed: [End: [RowReference]] = [:]
  /// The lists of which some members count only if their lists have the owner.
  private var staleLists: [(end: End, members: [RowReference], doubtful: Set<RowReference>)] = []
  private var stale: [InverseRecords.Column: InverseRecords.Staleness] = [:]

  init(_ store: TableStore) {
    self.store = store
    view = store.engine.makeReadView()
  }

  /// Makes the changes, in one commit: at each, lists of many to many agree with their other ends.
  ///
  /// - Parameters:
  ///   - gained: The relationships: tables, and columns by position.
  ///   - stale: Those whose values count for less than the values at their other ends.
  /// - Throws: What reading and writing rows throws.
  /// - Complexity: O(rows of the tables). The references of to-one relationships with a list at the other end need memory
  ///   only if they go, others do for each.
  mutating func settle(
    _ gained: [(table: UInt16, column: Int)],
    stale: [InverseRecords.Column: InverseRecords.Staleness] = [:]
  ) throws {
    self.stale = stale
    var ones: [End: RowReference] = [:]
    for (number, column) in gained {
      guard let table = store.table(numbered: number),
        let inverse = table.descriptor.properties[column].inverse
      else { continue }
      let property = table.descriptor.properties[column]
      let isToMany = property.isToMany
      try store.scan(number, of: view) { key, row, layout in
        if layout.isNull(column, in: row) { return }
        let end = End(row: RowReference(table: number, key: key), column: column)
        if isToMany {
          try collect(Array(layout.references(column, in: row)), of: end, property, inverse)
        } else {
          let target = layout.reference(column, in: row)
          if try !isThere(target, of: property) {
            if property.isOptional { values[end] = [] }
          } else if !inverse.isToMany {
            ones[end] = target
            let other = End(row: target, column: inverse.ordinal)
            // An end that counts more, and does not name this one, has another by now, or was set to nil.
            if !countsLess(end, than: other) { pair(end, other) }
          }
        }
      }
    }
    for (end, target) in ones where pairs[end]?.row != target { values[end] = [] }
    for (end, other) in pairs where ones[end] != other.row { values[end] = [other.row] }
    for (end, members, doubtful) in staleLists {
      let named = Set(owed[end] ?? [])
      let kept = members.filter { !doubtful.contains($0) || named.contains($0) }
      if kept.count < members.count { values[end] = kept }
    }
    for (end, rows) in owed { try add(rows, to: end) }
    try write()
  }

  /// Whether an end is stale, and its other end is not.
  private func countsLess(_ end: End, than other: End) -> Bool {
    staleness(of: end) != nil && staleness(of: other) == nil
  }

  private func staleness(of end: End) -> InverseRecords.Staleness? {
    stale.isEmpty
      ? nil : stale[InverseRecords.Column(table: end.row.table, position: end.column)]
  }

  /// Takes out of relationships, in one commit, the references to rows of classes that these cannot lead to.
  ///
  /// - Parameter columns: The relationships: tables, and columns by position.
  /// - Throws: What reading and writing rows throws.
  /// - Complexity: O(rows of the tables).
  mutating func narrow(_ columns: [(table: UInt16, column: Int)]) throws {
    for (number, column) in columns {
      guard let property = store.table(numbered: number)?.descriptor.properties[column] else {
        continue
      }
      try store.scan(number, of: view) { key, row, layout in
        if layout.isNull(column, in: row) { return }
        let targets =
          property.isToMany
          ? Array(layout.references(column, in: row)) : [layout.reference(column, in: row)]
        let kept = targets.filter { target in
          store.table(numbered: target.table).map { property.canLead(to: $0.descriptor) } ?? true
        }
        guard kept.count < targets.count else { return }
        values[End(row: RowReference(table: number, key: key), column: column)] = kept
      }
    }
    try write()
  }

  private mutating func collect(
    _ members: [RowReference],
    of end: End,
    _ property: ModelProperty,
    _ inverse: ModelProperty
  ) throws {
    var kept: [RowReference] = []
    var doubtful: Set<RowReference> = []
    // The models that lacked an entity could take no row of it out of a list: an older library did so all the same.
    let mayBeOutdated = staleness(of: end) == .property
    for member in members where try isThere(member, of: property) {
      kept.append(member)
      let other = End(row: member, column: inverse.ordinal)
      if mayBeOutdated, countsLess(end, than: other) {
        doubtful.insert(member)
      } else {
        owed[other, default: []].append(end.row)
      }
    }
    if kept.count < members.count { values[end] = kept }
    if !doubtful.isEmpty { staleLists.append((end, kept, doubtful)) }
  }

  /// Whether a reference names a row that there is, of a class that the relationship can lead to, or of an entity that
  /// the schema lacks and that may come back.
  private func isThere(_ row: RowReference, of property: ModelProperty) throws -> Bool {
    guard let table = store.table(numbered: row.table) else {
      return try store.engine.catalogue.table(row.table) != nil && view.contains(row)
    }
    return try property.canLead(to: table.descriptor) && view.contains(row)
  }

  private mutating func pair(_ end: End, _ other: End) {
    guard pairs[end] == nil, pairs[other] == nil else { return }
    pairs[end] = other
    pairs[other] = end
  }

  private mutating func add(_ rows: [RowReference], to end: End) throws {
    guard let table = store.table(numbered: end.row.table) else { return }
    let stored = try store.withRow(at: end.row) { row in
      table.layout.isNull(end.column, in: row)
        ? [] : Array(table.layout.references(end.column, in: row))
    }
    guard let stored else { return }
    let list = values[end] ?? stored
    let known = Set(list)
    let missing = rows.filter { !known.contains($0) }
    if !missing.isEmpty { values[end] = list + missing }
  }

  private func write() throws {
    if values.isEmpty { return }
    let changes = Dictionary(grouping: values, by: \.key.row).sorted { $0.key < $1.key }
    try store.save(author: "inverse relationships") { sink in
      var writer = RowWriter()
      for (reference, ends) in changes {
        guard let table = store.table(numbered: reference.table) else { continue }
        var new: [Int: [RowReference]] = [:]
        for (end, rows) in ends where try references(of: end, in: table) != rows {
          new[end.column] = rows
          if rows.isEmpty, let rank = table.descriptor.rankColumns[end.column] { new[rank] = [] }
        }
        if new.isEmpty { continue }
        var changed = ColumnSet()
        for column in new.keys { changed.insert(column) }
        writer.removeAll()
        let range = try store.withRow(at: reference) { row in
          writer.begin(table.layout)
          for column in 0..<table.layout.count {
            guard let rows = new[column] else {
              writer.copy(column, from: row, column: column, layout: table.layout)
              continue
            }
            guard let first = rows.first else { continue }
            if table.layout.types[column] == .references {
              writer.append(column, references: rows)
            } else {
              writer.set(column, reference: first)
            }
          }
          return writer.finish()
        }
        guard let range else { continue }
        sink.update(reference, changed: changed, row: writer.bytes.extracting(range))
      }
    }
  }

  /// The references that are stored at an end; `nil` if its row is gone.
  private func references(of end: End, in table: EntityTable) throws -> [RowReference]? {
    try store.withRow(at: end.row) { row in
      if table.layout.isNull(end.column, in: row) { return [] }
      return table.layout.types[end.column] == .references
        ? Array(table.layout.references(end.column, in: row))
        : [table.layout.reference(end.column, in: row)]
    }
  }
}
