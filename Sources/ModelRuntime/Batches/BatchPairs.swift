import RowFormat

/// Keeps the ends of one-to-one relationships in agreement while a batch writes one end of them.
///
/// A one-to-one is stored at both ends, and a batch sets only one: the rows that its rows refer to must refer back, and the
/// rows that either end belonged to before lose it. They are read and written in the commit of the batch, and nobody else
/// writes such ends meanwhile (see ``StoreConnection/lockEnds()``).
final class BatchPairs {
  private let connection: StoreConnection
  private let descriptor: ModelDescriptor
  private let properties: [(property: ModelProperty, inverse: ModelProperty)]
  /// The partners of the rows of the commit, for each property in ``properties``.
  private var ends: [[End]]
  /// Whether the commit can be repeated if others have changed rows that it writes along: see
  /// ``RowLayout/columnsWritten(with:)``.
  private let canRepeat: Bool
  /// The rows outside the batch that the commit has changed.
  private(set) var updated: [RowReference] = []

  private struct End {
    let row: RowReference
    let partner: RowReference?
    /// The row that this row referred to before.
    let former: RowReference?
  }

  /// The change of an end at a row outside the batch.
  private struct OtherEnd {
    let row: FetchedRow
    let layout: RowLayout
    let property: ModelProperty
    let target: RowReference?
  }

  /// Returns the pairs that a batch needs; `nil` if none of its properties is an end of a one-to-one.
  ///
  /// - Parameters:
  ///   - properties: The properties that the batch writes.
  ///   - descriptor: The class of the rows.
  ///   - connection: The store.
  ///   - canRepeat: Whether the batch repeats a commit that fails with `RowConflicts`.
  init?(
    among properties: [ModelProperty],
    of descriptor: ModelDescriptor,
    in connection: StoreConnection,
    canRepeat: Bool = true
  ) {
    self.properties = properties.compactMap { property in
      guard property.isPaired, let inverse = property.inverse else { return nil }
      return (property, inverse)
    }
    if self.properties.isEmpty { return nil }
    self.descriptor = descriptor
    self.connection = connection
    self.canRepeat = canRepeat
    ends = self.properties.map { _ in [] }
  }

  /// Forgets the rows of the previous commit.
  func begin() {
    for place in ends.indices { ends[place].removeAll() }
    updated.removeAll()
  }

  /// Records a new row.
  func add(_ reference: RowReference, _ row: RawSpan) {
    for (place, pair) in properties.enumerated() {
      let partner = descriptor.layout.target(pair.property.ordinal, in: row)
      ends[place].append(End(row: reference, partner: partner, former: nil))
    }
  }

  /// Records a row that replaces another one.
  func add(_ reference: RowReference, _ row: RawSpan, replacing former: RawSpan) {
    for (place, pair) in properties.enumerated() {
      let column = pair.property.ordinal
      ends[place].append(
        End(
          row: reference,
          partner: descriptor.layout.target(column, in: row),
          former: descriptor.layout.target(column, in: former)
        )
      )
    }
  }

  /// Writes the other ends.
  ///
  /// - Parameters:
  ///   - sink: The commit.
  ///   - state: The editing state of the batch's context.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for two rows that refer to one model, or a model that would lose a
  ///   required one; or an error of reading rows.
  func settle(in sink: any RowChangeSink, for state: EditingState) throws {
    var changes: [OtherEnd] = []
    for (place, pair) in properties.enumerated() {
      try collectChanges(of: ends[place], pair.property, pair.inverse, state, into: &changes)
    }
    // A commit takes a row once, and a row may be at several ends.
    changes.sort { $0.row.reference < $1.row.reference }
    var rest = changes[...]
    while let row = rest.first?.row {
      let ends = rest.prefix { $0.row.reference == row.reference }
      try write(ends, of: row, ends[ends.startIndex].layout, sink)
      rest = rest[ends.endIndex...]
    }
  }

  private func collectChanges(
    of ends: [End],
    _ property: ModelProperty,
    _ inverse: ModelProperty,
    _ state: EditingState,
    into changes: inout [OtherEnd]
  ) throws {
    var wanted: [RowReference: RowReference] = [:]
    for end in ends {
      guard let partner = end.partner else { continue }
      if wanted.updateValue(end.row, forKey: partner) != nil {
        throw SwiftDataError.modelValidationFailure.explained(
          "two rows of the batch have \(name(partner)) as their \(property.name), which belongs to one model: give it "
            + "to one row",
          entity: descriptor.entityName,
          property: property.name
        )
      }
    }
    let own = Set(ends.map(\.row))
    let partners = Set(wanted.keys).union(ends.compactMap(\.former)).sorted()
    var formerOwners: [RowReference: RowReference] = [:]
    for case let row? in try connection.store.rows(at: partners, for: state) {
      guard let layout = connection.descriptor(of: row.reference)?.layout else { continue }
      let stored = row.withBytes { layout.target(inverse.ordinal, in: $0) }
      let owner = wanted[row.reference]
      // A partner that no row of the batch refers to now stays with other rows that refer to it.
      if stored == owner || owner == nil && !(stored.map(own.contains) ?? false) { continue }
      if let stored, !own.contains(stored) { formerOwners[stored] = row.reference }
      changes.append(OtherEnd(row: row, layout: layout, property: inverse, target: owner))
    }
    for case let row? in try connection.store.rows(at: formerOwners.keys.sorted(), for: state) {
      guard let layout = connection.descriptor(of: row.reference)?.layout,
        row.withBytes({ layout.target(property.ordinal, in: $0) }) == formerOwners[row.reference]
      else { continue }
      changes.append(OtherEnd(row: row, layout: layout, property: property, target: nil))
    }
  }

  private func write(
    _ ends: ArraySlice<OtherEnd>,
    of row: FetchedRow,
    _ layout: RowLayout,
    _ sink: any RowChangeSink
  ) throws {
    for end in ends where end.target == nil && !end.property.isOptional {
      throw SwiftDataError.modelValidationFailure.explained(
        "the batch would leave \(name(row.reference)) without its \(end.property.name), which cannot be nil",
        property: end.property.name
      )
    }
    let columns = ends.map(\.property.ordinal)
    var changed = ColumnSet()
    for column in columns { changed.insert(column) }
    let writtenUnset = canRepeat ? layout.columnsWritten(with: Set(columns)) : []
    row.withBytes { former in
      var writer = RowWriter(capacity: former.byteCount + 16)
      writer.begin(layout)
      for column in 0..<layout.count where !columns.contains(column) {
        writer.copy(column, from: former, column: column, layout: layout)
      }
      for end in ends {
        if let target = end.target { writer.set(end.property.ordinal, reference: target) }
      }
      let range = writer.finish()
      sink.update(row.reference, changed: changed, row: writer.bytes.extracting(range))
      guard !writtenUnset.isEmpty, let sink = sink as? any ValueExpecting else { return }
      sink.expectValues(of: row.reference, writtenUnset, from: MergeBase(former).bytes)
    }
    updated.append(row.reference)
  }

  private func name(_ row: RowReference) -> String {
    connection.identifier(of: row).map { "\($0)" } ?? "\(row)"
  }
}

extension RowLayout {
  /// The row that a to-one column of a row refers to.
  fileprivate func target(_ column: Int, in row: RawSpan) -> RowReference? {
    isNull(column, in: row) ? nil : reference(column, in: row)
  }
}
