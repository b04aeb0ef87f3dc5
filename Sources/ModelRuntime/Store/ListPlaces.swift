import RowFormat

/// The places that the snapshots of a save give to the members of lists, in a store that keeps lists at their members.
///
/// A snapshot of an owner determines the order of its members, and those need not be among the saved models. A snapshot of a
/// member does not contain its place: that stays, unless the member gets another owner.
struct ListPlaces {
  /// A to-one column of a row, which leads to the owner of a list.
  private struct End: Hashable {
    let row: RowReference
    let column: Int
  }

  /// The ranks of ends that are unchanged, or whose list is saved; `nil` for one that never had a rank.
  private var ranks: [End: Int64?] = [:]
  /// The rows of members that are saved only for their places, and the columns with these.
  private(set) var moved: [RowReference: [Int: Int64]] = [:]
  /// The owners in whose lists they get their places.
  private var owners: [End: RowReference] = [:]
  private var storedRows: [RowReference: (row: FetchedRow, type: ModelDescriptor)] = [:]

  /// The distance of new ranks if there is room for others between them.
  private static let spacing: Int64 = 1 << 10

  /// Reads the stored members.
  ///
  /// - Parameters:
  ///   - request: The changes to save.
  ///   - store: The store to save them in.
  ///   - reference: Returns the row of a model, stored or new.
  ///   - gone: Rows that others have deleted, as found by an earlier attempt.
  /// - Throws: An error of reading rows, or of reserving ranks.
  init<Store: RowStore>(
    of request: DataStoreSaveChangesRequest<DefaultSnapshot>,
    in store: Store,
    _ reference: (PersistentIdentifier) -> RowReference?,
    without gone: Set<RowReference>
  ) throws {
    let saved = request.inserted + request.updated
    if !saved.contains(where: { !$0.descriptor.relationships.isEmpty }) { return }
    var snapshots: [RowReference: DefaultSnapshot] = [:]
    for snapshot in saved {
      if let own = reference(snapshot.persistentIdentifier) { snapshots[own] = snapshot }
    }
    let deleted = Set(request.deleted.compactMap { reference($0.persistentIdentifier) })

    try keepPlaces(of: request.updated, in: store, reference)
    let tables = store.schema.descriptors.compactMap { type in
      store.table(forEntityNamed: type.entityName).map { (number: $0, type: type) }
    }
    var types: [RowReference: ModelDescriptor] = [:]
    for (place, snapshot) in saved.enumerated() {
      guard let owner = reference(snapshot.persistentIdentifier) else { continue }
      for property in snapshot.descriptor.relationships where property.isDerivable {
        guard let inverse = property.inverse, let destination = property.destination else {
          continue
        }
        let base = ModelDescriptor.of(destination)
        var stored: [ReferringRow] = []
        for table in tables
        where place >= request.inserted.count && table.type.isKind(of: base) {
          let found = try store.rows(
            referringTo: owner,
            inTable: table.number,
            column: inverse.ordinal
          )
          for member in found { types[member.reference] = table.type }
          stored += found
        }
        stored.sort()
        let known = Dictionary(
          stored.lazy.map { ($0.reference, $0.rank) },
          uniquingKeysWith: { first, _ in first }
        )
        var listed: Set<RowReference> = []
        // A member that others, or this save, have moved to another list stays there.
        let members = snapshot.destinations(property).compactMap(reference).filter { member in
          if deleted.contains(member) || gone.contains(member) || !listed.insert(member).inserted {
            return false
          }
          guard let snapshot = snapshots[member] else { return known[member] != nil }
          return snapshot.destinations(inverse).first.flatMap(reference) == owner
        }
        if members.elementsEqual(stored.lazy.map(\.reference).filter(listed.contains)) { continue }
        let former = members.map { known[$0] }
        let new = try Ranks.keepingMost(of: former, spacing: Self.spacing, reserving: store)
        for (member, (former, new)) in zip(members, zip(former, new)) where former != new {
          if snapshots[member] != nil {
            ranks[End(row: member, column: inverse.ordinal)] = .some(new)
          } else if let column = types[member]?.rankColumns[inverse.ordinal] {
            moved[member, default: [:]][column] = new
            owners[End(row: member, column: inverse.ordinal)] = owner
          }
        }
      }
    }
    let rows = moved.keys.sorted()
    for (reference, row) in zip(rows, try store.rows(at: rows)) {
      guard let row, let type = types[reference] else { continue }
      storedRows[reference] = (row, type)
    }
  }

  /// Makes unchanged ends keep their ranks.
  private mutating func keepPlaces<Store: RowStore>(
    of updated: [DefaultSnapshot],
    in store: Store,
    _ reference: (PersistentIdentifier) -> RowReference?
  ) throws {
    let members = updated.filter { !$0.descriptor.rankColumns.isEmpty }
    let named = members.compactMap { snapshot in
      reference(snapshot.persistentIdentifier).map { (own: $0, snapshot: snapshot) }
    }
    for (row, (own, snapshot)) in zip(try store.rows(at: named.map(\.own)), named) {
      guard let row else { continue }
      let type = snapshot.descriptor
      row.withBytes { bytes in
        for (column, rank) in type.rankColumns where !type.layout.isNull(column, in: bytes) {
          let target = snapshot.destinations(type.properties[column]).first.flatMap(reference)
          guard target == type.layout.reference(column, in: bytes) else { continue }
          ranks[End(row: own, column: column)] = .some(
            type.layout.isNull(rank, in: bytes) ? nil : type.layout.integer(rank, in: bytes)
          )
        }
      }
    }
  }

  /// The rank of an end.
  ///
  /// - Returns: `nil` if it comes after all others; otherwise its rank, if it has one.
  func rank(of row: RowReference, _ column: Int) -> Int64?? { ranks[End(row: row, column: column)] }

  /// Writes the rows of members that only get other places.
  ///
  /// A member that others move to another list before the save is committed is not touched: a place in this list
  /// means nothing there. The save fails with ``MovedReference``, if the store can detect it.
  func write(into sink: any RowChangeSink) {
    for (reference, places) in moved.sorted(by: { $0.key < $1.key }) {
      guard let (stored, type) = storedRows[reference] else { continue }
      var writer = RowWriter()
      let layout = type.layout
      var changed = ColumnSet()
      for column in places.keys { changed.insert(column) }
      let range = stored.withBytes { row in
        writer.begin(layout)
        for column in 0..<layout.count {
          if let rank = places[column] {
            writer.set(column, integer: rank)
          } else {
            writer.copy(column, from: row, column: column, layout: layout)
          }
        }
        return writer.finish()
      }
      let new = writer.bytes.extracting(range)
      sink.update(reference, changed: changed, row: new)
      let writtenUnset = layout.columnsWritten(with: Set(places.keys))
      if !writtenUnset.isEmpty, let sink = sink as? any ValueExpecting {
        sink.expectValues(
          of: reference,
          writtenUnset,
          from: unsafe new.withUnsafeBytes { unsafe Array($0) }
        )
      }
      guard let sink = sink as? any ReferenceExpecting else { continue }
      for (column, rank) in type.rankColumns where places[rank] != nil {
        guard let owner = owners[End(row: reference, column: column)] else { continue }
        sink.expectReference(of: reference, column, to: owner)
      }
    }
  }
}

extension Ranks {
  /// Ranks in strictly ascending order that keep as many former ones as possible; a store reserves the others.
  fileprivate static func keepingMost(
    of former: [Int64?],
    spacing: Int64,
    reserving store: some RowStore
  ) throws -> [Int64] {
    var failure: (any Error)?
    let ranks = keepingMost(of: former, spacing: spacing) { count in
      do {
        return try store.reserveRanks(count)
      } catch {
        // The numbers are not used: nothing is saved.
        failure = failure ?? error
        return 0..<Int64(count)
      }
    }
    if let failure { throw failure }
    return ranks
  }
}
