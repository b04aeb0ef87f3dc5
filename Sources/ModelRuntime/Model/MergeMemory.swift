import RowFormat

/// The bytes of a row as a context read it, or as a store has it.
struct MergeBase {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  init(_ row: RawSpan) { bytes = unsafe row.withUnsafeBytes { unsafe Array($0) } }

  init?(_ row: _RowView) {
    if row.isAbsent { return nil }
    bytes = unsafe row.span.withUnsafeBytes { unsafe Array($0) }
  }

  /// The value of an attribute; `nil` for null, and for what cannot be decoded.
  func value(of property: ModelProperty, _ descriptor: ModelDescriptor) -> Any? {
    guard case .attribute(let codec) = property.kind else { return nil }
    return withView(descriptor) { try? codec.value($0, property.ordinal) }
  }

  func withView<R>(_ descriptor: ModelDescriptor, _ body: (_RowView) throws -> R) rethrows -> R {
    try unsafe bytes.withUnsafeBytes {
      try unsafe body(
        _RowView(base: $0.baseAddress, byteCount: $0.count, layout: descriptor.layout)
      )
    }
  }

  func withRow(_ reference: RowReference, _ body: (FetchedRow) -> Void) {
    unsafe body(FetchedRow(copying: bytes.span.bytes, reference))
  }
}

/// What is remembered of a changed object for the comparison at its save.
struct MergeMemory {
  /// Rows that the object was changed over, and that it has no longer; for each, the properties that are compared with it.
  ///
  /// The first that has a property is the one.
  var bases: [(columns: OrdinalSet, row: MergeBase)] = []
  /// The properties of which it is not known what was read.
  var unknown = OrdinalSet()
  /// What was added to properties.
  var increments = OrdinalMap<Increment>()
  /// Whether the object takes the place of a row because of a unique value: all of it is to be written, whatever was there.
  var replaces = false

  /// The properties of which the row in memory says nothing.
  var columns: OrdinalSet {
    bases.reduce(into: unknown) { $0.formUnion($1.columns) }
  }
}

extension _ModelState {
  /// Remembers the row that is about to go as the one over which properties were changed.
  func keepBase() {
    if marks.isEmpty || !flags.contains(.stored) || flags.contains(.hasUnreadChanges) { return }
    var columns = changed
    if let mergeMemory { columns.subtract(mergeMemory.columns) }
    guard !columns.isEmpty, let base = MergeBase(currentRow) else { return }
    mergeMemory = mergeMemory ?? MergeMemory()
    mergeMemory?.bases.append((columns, base))
  }

  /// Called when a property is changed without a row in memory, or after others that were.
  func rememberUnread(_ ordinal: Int, in context: ModelContext) {
    if unsafe row == nil {
      if flags.contains(.hasSavedValues)
        || flags.contains(.hasMergedValues) && !context.remembersReads
      {
        flags.insert(.hasUnreadChanges)
        return
      }
      guard context.remembersReads else { return }
      loadRow()
    }
    guard flags.contains(.hasUnreadChanges) else { return }
    // Of this property it is known.
    flags.remove(.hasUnreadChanges)
    var memory = mergeMemory ?? MergeMemory()
    var unknown = changed
    unknown.remove(ordinal)
    unknown.subtract(memory.columns)
    memory.unknown.formUnion(unknown)
    mergeMemory = memory
  }

  func isBaseKnown(_ ordinal: Int) -> Bool {
    if mergeMemory?.bases.contains(where: { $0.columns.contains(ordinal) }) == true { return true }
    return !flags.contains(.hasUnreadChanges) && mergeMemory?.unknown.contains(ordinal) != true
  }

  /// The row over which a property was changed; `nil` if it is not known.
  func base(of ordinal: Int) -> MergeBase? {
    if let base = mergeMemory?.bases.first(where: { $0.columns.contains(ordinal) }) {
      return base.row
    }
    return isBaseKnown(ordinal) ? MergeBase(currentRow) : nil
  }

  /// Has a property compared with another row from now on.
  func rebase(_ ordinal: Int, on row: MergeBase) {
    var memory = mergeMemory ?? MergeMemory()
    for place in memory.bases.indices { memory.bases[place].columns.remove(ordinal) }
    memory.bases.removeAll { $0.columns.isEmpty }
    var columns = OrdinalSet()
    columns.insert(ordinal)
    memory.bases.insert((columns, row), at: 0)
    mergeMemory = memory
  }

  /// Forgets what a property was changed over: it is not changed any more.
  func forgetBase(_ ordinal: Int) {
    guard var memory = mergeMemory else { return }
    for place in memory.bases.indices { memory.bases[place].columns.remove(ordinal) }
    memory.bases.removeAll { $0.columns.isEmpty }
    memory.unknown.remove(ordinal)
    memory.increments[ordinal] = nil
    mergeMemory = memory
  }
}

extension _ModelState {
  /// Tells a sink what the attributes that the save sets are expected to be in the store.
  ///
  /// - Parameters:
  ///   - model: The object.
  ///   - all: Whether all of them are compared; otherwise only those to which something is added.
  ///   - sink: The sink.
  func expectValues(of model: any PersistentModel, all: Bool, in sink: any ValueExpecting) {
    if mergeMemory?.replaces == true { return }
    let changed = changed
    let current = MergeBase(currentRow)
    var known: [Int] = []
    var unknown: [Int] = []
    for property in descriptor.properties
    where !property.isRelationship && !property.isDerived && changed.contains(property.ordinal) {
      let column = property.ordinal
      guard all || intactIncrement(property, of: model) != nil else { continue }
      guard isBaseKnown(column) else {
        unknown.append(column)
        continue
      }
      guard let base = base(of: column) else { continue }
      if mergeMemory?.bases.contains(where: { $0.columns.contains(column) }) == true {
        sink.expectValues(of: reference, [column], from: base.bytes)
      } else {
        known.append(column)
      }
    }
    if !known.isEmpty, let current { sink.expectValues(of: reference, known, from: current.bytes) }
    if !unknown.isEmpty { sink.expectValues(of: reference, unknown, from: nil) }
  }
}

extension _ModelState {
  /// Has the properties that are not set come from the row, so that their columns are copied from it and not encoded.
  ///
  /// But for those that no row has the values of.
  func readUnset(_ model: any PersistentModel) {
    flags.remove(.hasSavedValues)
    var kept = changed
    for property in descriptor.ephemerals { kept.insert(property.ordinal) }
    model._$reset(keeping: kept)
  }

  /// Tells a sink that what the save writes without having set it is expected to be in the store as the row in memory has it.
  ///
  /// Columns from 63 on are written together: one that was not set must not bring back what others have replaced.
  ///
  /// - Parameters:
  ///   - set: The columns that the save sets.
  ///   - sink: The sink.
  func expectUnset(besides set: OrdinalSet, in sink: any ValueExpecting) {
    guard let current = MergeBase(currentRow) else { return }
    let unset = (63..<descriptor.layout.count).filter { !set.contains($0) }
    if !unset.isEmpty { sink.expectValues(of: reference, unset, from: current.bytes) }
  }
}
