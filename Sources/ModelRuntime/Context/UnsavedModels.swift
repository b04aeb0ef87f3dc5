import RowFormat

/// The unsaved models of a context by class, and by the values that fetches use.
///
/// The context's three lists define what is unsaved; this is an index of them. A fetch updates it with the models added to
/// the lists since: so the cost for a model is paid once, however many fetches there are, and a context that does not
/// fetch pays next to nothing.
///
/// Invariant: the positions listed for a class are those, in ascending order, at which its models are in the
/// context's list, up to the position the list was read to.
final class UnsavedModels {
  @safe @exclusivity(unchecked) private(set) var inserted = UnsavedList()
  @safe @exclusivity(unchecked) private(set) var changed = UnsavedList()
  @safe @exclusivity(unchecked) private(set) var deleted = UnsavedList()
  /// The changed models that have changes of further properties, in the order of these changes, as far as they are wanted.
  @safe @exclusivity(unchecked) private(set) var furtherChanges: [_ModelState] = []
  private var keepsFurtherChanges = false
  /// The models listed by their values whose values have changed since, in the order of these changes, as far as they are
  /// wanted.
  @safe @exclusivity(unchecked) private(set) var invalidations: [_ModelState] = []
  private var keepsInvalidations = false

  /// Number of times that models have left the lists of changed and of deleted ones.
  var departureCount: Int { changed.departureCount + deleted.departureCount }

  /// Number of times that models have left the lists.
  var departures: UnsavedDepartures {
    UnsavedDepartures(
      inserted: inserted.departureCount,
      changed: changed.departureCount,
      deleted: deleted.departureCount
    )
  }

  /// Keeps changes of further properties from now on.
  func keepFurtherChanges() { keepsFurtherChanges = true }

  /// Keeps the models whose values change from now on.
  func keepInvalidations() { keepsInvalidations = true }

  /// Forgets these changes, and keeps none until they are wanted again.
  func forgetChanges() {
    keepsFurtherChanges = false
    furtherChanges = []
    keepsInvalidations = false
    invalidations = []
  }

  /// Reads the models added to a context's lists.
  ///
  /// - Parameters:
  ///   - context: The context.
  ///   - type: The class that is fetched.
  func update(from context: ModelContext, for type: ModelDescriptor) {
    context.makeModelsTakenAlong(of: type)
    inserted.update(from: context.inserted)
    changed.update(from: context.changed)
    deleted.update(from: context.deletedInMemory)
  }

  /// Reads only the additions to the list of new models, if nothing else is unsaved.
  func updateInserted(from context: ModelContext) { inserted.update(from: context.inserted) }

  // MARK: Notifications from the context

  func insertedCountChanges(to count: Int) { inserted.updateCount(count) }
  func changedCountChanges(to count: Int) { changed.updateCount(count) }
  func deletedCountChanges(to count: Int) { deleted.updateCount(count) }

  /// Records that a property of a changed model has changed.
  ///
  /// - Parameters:
  ///   - column: The property's column.
  ///   - state: The model.
  ///   - isFurther: Whether it is the property's first change.
  func recordColumn(_ column: Int, of state: _ModelState, isFurther: Bool) {
    changed.unsavedClass(of: state.descriptor)?.columns.insert(column)
    if isFurther, keepsFurtherChanges { furtherChanges.append(state) }
  }

  /// Records that values of a model that is listed by its values have changed.
  ///
  /// - Parameters:
  ///   - column: The column of the value; `nil` if it may be any.
  ///   - state: The model's state.
  func invalidateValue(_ column: Int?, of state: _ModelState) {
    let list = state.flags.contains(.inserted) ? inserted : changed
    let unsavedClass = list.unsavedClass(of: state.descriptor)
    let isListed = unsavedClass?.listsValues(of: column) ?? false
    guard isListed || keepsInvalidations else { return }
    state.isListedByValue = false
    // The next setter reports nothing, so from now on none of its values counts as known.
    if unsavedClass?.listsValues(of: nil) == true { unsavedClass?.invalidateValues(of: state) }
    if keepsInvalidations { invalidations.append(state) }
  }
}

/// The departures from a context's lists of unsaved models: between two equal ones, the models have kept their positions.
struct UnsavedDepartures: Equatable {
  let inserted: Int
  let changed: Int
  let deleted: Int
}

extension ModelContext {
  /// Whether any model of a class, or of a subclass, is unsaved.
  func hasUnsavedModels(of type: ModelDescriptor) -> Bool {
    unsaved.update(from: self, for: type)
    return [unsaved.inserted, unsaved.changed, unsaved.deleted]
      .contains { !$0.classes(below: type).isEmpty }
  }
}

extension UnsavedModels {
  /// Whether a fetch reads unsaved changes of models other than its results, as far as the lists were read.
  ///
  /// Otherwise a changed model is affected only by what it changed itself: of the others, the store has what the context has.
  func mayAffectOthers(readBy reading: FetchReading) -> Bool {
    if !reading.readsOthers { return false }
    return reading.isUnknown
      || (inserted.classes + deleted.classes).contains { reading.readsOthers(of: $0.descriptor) }
      || changed.classes.contains {
        reading.areOthersAffected(byAnyOf: $0.columns, of: $0.descriptor)
      }
  }
}

/// One of a context's lists of unsaved models, by class.
struct UnsavedList {
  private(set) var classes: [UnsavedClass] = []
  /// Number of models of the list that have been read.
  private var readCount = 0
  /// Number of models in the list at the context's last report.
  private var knownCount = 0
  /// Whether models have left the list, so that it must be read again.
  private var isStale = false
  /// Number of times that the list was read again for that.
  private var rereadCount = 0
  /// Number of times that models have left the list, with one for all between two reads.
  var departureCount: Int { rereadCount + (isStale ? 1 : 0) }

  /// Records the number of models in the list after one change of it.
  ///
  /// A list grows only at its end, by one model at a time; any other operation on it changes the number of its models
  /// differently.
  @inline(__always)
  mutating func updateCount(_ count: Int) {
    if count != knownCount, count != knownCount + 1 { isStale = true }
    knownCount = count
  }

  mutating func update(from models: [any PersistentModel]) {
    if isStale {
      classes = []
      readCount = 0
      isStale = false
      rereadCount += 1
    }
    assert(models.count == knownCount, "\(models.count) models, \(knownCount) by what was said")
    if readCount == models.count { return }
    for position in readCount..<models.count {
      let state = models[position]._$state
      makeClass(of: state.descriptor).append(position, state.changed.marks)
    }
    readCount = models.count
  }

  /// The listed models of a class, if there are any.
  func unsavedClass(of descriptor: ModelDescriptor) -> UnsavedClass? {
    if let last = classes.last, last.descriptor === descriptor { return last }
    return classes.first { $0.descriptor === descriptor }
  }

  /// The listed models of a class and its subclasses.
  func classes(below type: ModelDescriptor) -> [UnsavedClass] {
    if classes.allSatisfy({ $0.descriptor === type }) { return classes }
    return classes.filter { $0.descriptor.isKind(of: type) }
  }

  private mutating func makeClass(of descriptor: ModelDescriptor) -> UnsavedClass {
    if let known = unsavedClass(of: descriptor) { return known }
    let made = UnsavedClass(descriptor)
    classes.append(made)
    return made
  }
}

/// The unsaved models of one class in one list.
final class UnsavedClass {
  let descriptor: ModelDescriptor
  /// Positions of the models in the context's list.
  @safe @exclusivity(unchecked) private(set) var positions: [Int32] = []
  /// The properties that some of them have, or had, changes of.
  @safe @exclusivity(unchecked) var columns = ColumnSet()
  @safe @exclusivity(unchecked) private var values: [UnsavedValues] = []
  /// Positions of models whose values have changed since they were listed by them.
  @safe @exclusivity(unchecked) private var outdated: [Int32] = []

  init(_ descriptor: ModelDescriptor) { self.descriptor = descriptor }

  fileprivate func append(_ position: Int, _ changed: ColumnSet) {
    positions.append(Int32(position))
    columns.formUnion(changed)
  }

  /// Whether models are listed by their values in a column; in any, if it is `nil`.
  fileprivate func listsValues(of column: Int?) -> Bool {
    column.map { column in values.contains { $0.column == column } } ?? !values.isEmpty
  }

  fileprivate func invalidateValues(of state: _ModelState) {
    outdated.append(state.unsavedPosition)
  }

  /// Returns the positions of models that may have one of several values in a column.
  ///
  /// - Parameters:
  ///   - wanted: The values.
  ///   - column: The column, of an attribute that an expression understands.
  ///   - models: The context's list.
  /// - Returns: The positions, in ascending order; possibly too many, never too few.
  /// - Complexity: O(*m* log *m*) for *m* positions, and O(*k*) for *k* models added or changed since the last call.
  func positions(
    having wanted: some Collection<QueryValue>,
    in column: Int,
    of models: [any PersistentModel]
  ) -> [Int32] {
    let place = listValues(of: column, models)
    return values[place].positions(of: wanted)
  }

  /// Returns the positions of models that may have one of the values of some look-ups, as ``positions(having:in:of:)`` does.
  func positions(
    havingAnyOf lookups: [UnsavedLookup],
    of models: [any PersistentModel]
  ) -> [Int32] {
    var found: [Int32] = []
    for lookup in lookups {
      found += positions(having: lookup.values, in: lookup.column, of: models)
    }
    if lookups.count > 1 { found.sortAndUnique() }
    return found
  }

  /// Calls a closure with the positions of models that have a value in a column, in ascending order, until it returns `false`.
  ///
  /// - Complexity: As ``positions(having:in:of:)``.
  func forEachPosition(
    having wanted: QueryValue,
    in column: Int,
    of models: [any PersistentModel],
    _ body: (Int32) throws -> Bool
  ) rethrows {
    let place = listValues(of: column, models)
    try values[place].forEachPosition(of: wanted, models, body)
  }

  /// Lists the models by their values in a column.
  ///
  /// - Returns: The place of the list.
  private func listValues(of column: Int, _ models: [any PersistentModel]) -> Int {
    listOutdated(models)
    let place: Int
    if let known = values.firstIndex(where: { $0.column == column }) {
      place = known
    } else {
      place = values.count
      values.append(UnsavedValues(descriptor.properties[column]))
    }
    values[place].update(positions, of: models)
    return place
  }

  private func listOutdated(_ models: [any PersistentModel]) {
    if outdated.isEmpty { return }
    assert(
      outdated.allSatisfy { models[Int($0)]._$state.descriptor === descriptor },
      "a model was listed at another's place"
    )
    for place in values.indices {
      values[place].list(outdated, of: models)
      // Earlier entries stay: a list of mostly former values is rebuilt.
      if values[place].count > 2 * positions.count + 64 { values[place].removeAll() }
    }
    outdated.removeAll(keepingCapacity: true)
  }
}
