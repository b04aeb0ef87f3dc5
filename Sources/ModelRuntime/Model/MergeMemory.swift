import RowFormat

/// The bytes of a row as read by a context, or as stored.
struct MergeBase {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  init(_ row: RawSpan) { bytes = unsafe row.withUnsafeBytes { unsafe Array($0) } }

  init?(_ row: _RowView) {
    if row.isAbsent { return nil }
    bytes = unsafe row.span.withUnsafeBytes { unsafe Array($0) }
  }

  /// The value of an attribute; `nil` for null, and for a value that cannot be decoded.
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

/// The data that a changed object keeps for the comparison at its save.
struct MergeMemory {
  /// Former rows over which the object was changed; for each, the properties that are compared with it.
  ///
  /// The first entry with a property applies.
  var bases: [(columns: OrdinalSet, row: MergeBase)] = []
  /// The properties whose read values are unknown.
  var unknown = OrdinalSet()
  /// The pending additions to properties.
  var increments = OrdinalMap<Increment>()
  /// Whether the object takes the place of a row because of a unique value: all of it is written, whatever was stored.
  var replaces = false
  /// The row whose values the app was shown before the row was dropped: the base of properties set before it is read again.
  var shown: MergeBase?
  /// The stored rows, and of each the properties, that the errors of refused saves have shown since.
  var reported: [(columns: OrdinalSet, row: MergeBase)] = []

  /// The properties that the row in memory does not cover.
  var columns: OrdinalSet {
    bases.reduce(into: unknown) { $0.formUnion($1.columns) }
  }

  /// The row in which the app was shown a property before the row was dropped.
  fileprivate func shownRow(of ordinal: Int) -> MergeBase? {
    guard let shown else { return nil }
    return reported.first { $0.columns.contains(ordinal) }?.row ?? shown
  }
}

extension _ModelState {
  /// Keeps the row that is about to be dropped as the base of the properties changed over it.
  func keepBase() {
    if marks.isEmpty || !flags.contains(.stored) || flags.contains(.hasUnreadChanges) { return }
    var columns = changed
    if let mergeMemory { columns.subtract(mergeMemory.columns) }
    guard !columns.isEmpty, let base = MergeBase(currentRow) else { return }
    mergeMemory = mergeMemory ?? MergeMemory()
    mergeMemory?.bases.append((columns, base))
  }

  /// Drops the row, and remembers it as what the app was shown.
  ///
  /// - Parameter former: The memory before changes were discarded.
  /// - Returns: Whether it is known what the app was shown.
  @discardableResult
  func dropShownRow(_ former: MergeMemory? = nil) -> Bool {
    let memory = former ?? mergeMemory
    let shown = MergeBase(currentRow) ?? memory?.shown
    dropRow()
    guard let shown else { return false }
    mergeMemory = mergeMemory ?? MergeMemory()
    mergeMemory?.shown = shown
    mergeMemory?.reported = memory?.reported ?? []
    return true
  }

  /// Forgets what the app was shown: a row that was just read takes its place.
  func forgetShown() {
    if mergeMemory == nil { return }
    mergeMemory?.shown = nil
    mergeMemory?.reported = []
  }

  /// Whether the app may have been shown values, wherever they are by now.
  var mayHaveShownValues: Bool {
    unsafe row != nil || mergeMemory?.shown != nil
      || !flags.isDisjoint(with: [.hasSavedValues, .hasMergedValues])
  }

  /// Called when a property is changed without a row in memory, or after others changed that way.
  func rememberUnread(_ ordinal: Int, in context: ModelContext) {
    if unsafe row == nil {
      if flags.contains(.hasSavedValues)
        || flags.contains(.hasMergedValues) && !context.remembersReads
      {
        flags.insert(.hasUnreadChanges)
        return
      }
      if let shown = mergeMemory?.shownRow(of: ordinal) {
        rebase(ordinal, on: shown)
      } else {
        guard context.remembersReads || readsBase(of: ordinal) else { return }
        loadRow()
      }
    }
    guard flags.contains(.hasUnreadChanges) else { return }
    // This property's base is known.
    flags.remove(.hasUnreadChanges)
    var memory = mergeMemory ?? MergeMemory()
    var unknown = changed
    unknown.remove(ordinal)
    unknown.subtract(memory.columns)
    memory.unknown.formUnion(unknown)
    mergeMemory = memory
  }

  /// Whether a property that is set before anything was read has the row of that time as its base: the save may have a policy.
  ///
  /// A remote store would have to answer one more request.
  private func readsBase(of ordinal: Int) -> Bool {
    connection?.loadsSiblings == false && !descriptor.properties[ordinal].isRelationship
  }

  func isBaseKnown(_ ordinal: Int) -> Bool {
    if mergeMemory?.bases.contains(where: { $0.columns.contains(ordinal) }) == true { return true }
    return !flags.contains(.hasUnreadChanges) && mergeMemory?.unknown.contains(ordinal) != true
  }

  /// The row over which a property was changed; `nil` if it is unknown.
  func base(of ordinal: Int) -> MergeBase? {
    if let base = mergeMemory?.bases.first(where: { $0.columns.contains(ordinal) }) {
      return base.row
    }
    return isBaseKnown(ordinal) ? MergeBase(currentRow) : nil
  }

  /// Compares a property with another row from now on.
  func rebase(_ ordinal: Int, on row: MergeBase) {
    var memory = mergeMemory ?? MergeMemory()
    for place in memory.bases.indices { memory.bases[place].columns.remove(ordinal) }
    memory.bases.removeAll { $0.columns.isEmpty }
    var columns = OrdinalSet()
    columns.insert(ordinal)
    memory.bases.insert((columns, row), at: 0)
    mergeMemory = memory
  }

  /// Records that the error of a refused save shows a property as it is stored.
  func recordReport(of ordinal: Int, in row: MergeBase) {
    var columns = OrdinalSet()
    columns.insert(ordinal)
    mergeMemory = mergeMemory ?? MergeMemory()
    mergeMemory?.reported.removeAll { $0.columns.contains(ordinal) }
    mergeMemory?.reported.append((columns, row))
  }

  /// Forgets the base of a property: it is no longer changed.
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
  /// Tells a sink the expected stored values of the attributes that the save sets.
  ///
  /// - Parameters:
  ///   - model: The object.
  ///   - all: Whether all of them are compared; otherwise only those with additions.
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
  /// Makes unset properties read their values from the row, so that their columns are copied from it and not encoded.
  ///
  /// Properties whose values no row has are left alone.
  func readUnset(_ model: any PersistentModel) {
    flags.remove(.hasSavedValues)
    var kept = changed
    for property in descriptor.ephemerals { kept.insert(property.ordinal) }
    model._$reset(keeping: kept)
  }

  /// Tells a sink that columns written without being set are expected to be stored as in the row in memory.
  ///
  /// Columns from 63 on are written together: one that was not set must not restore a value that others have replaced.
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
