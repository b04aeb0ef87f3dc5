public import RowFormat

/// The bookkeeping of one model object: its context, its stored row, its changes.
///
/// Every model owns one. Generated accessors use it to find the row a value is decoded from and to
/// report that a property is about to change; relationships are stored here, because setting one
/// end must move the other.
///
/// Not thread-safe, like the model it belongs to and the context both are used in.
///
/// Its properties are not checked for exclusive access: only the context's thread reads and changes them, and each
/// access ends before other code runs. The check would cost more than an access.
@safe public final class _ModelState {
  /// The state flags of the object.
  struct Flags: OptionSet {
    let rawValue: UInt16
    /// In the context, and not in any store yet.
    static let inserted = Flags(rawValue: 1)
    /// Deleted from the context; stays set for the object's life.
    static let deleted = Flags(rawValue: 2)
    /// In a store: there is, or was, a row.
    static let stored = Flags(rawValue: 4)
    /// In the context's list of changed objects.
    static let listed = Flags(rawValue: 8)
    /// The store no longer has the row.
    static let vanished = Flags(rawValue: 16)
    /// The initializer's relationships have been taken over.
    static let adopted = Flags(rawValue: 32)
    /// The context holds the lists of the object a while longer than others.
    static let keepsLists = Flags(rawValue: 64)
    /// The object keeps the context.
    static let keepsContext = Flags(rawValue: 128)
    /// A relationship holds the object, or held it: then the object does not keep the context.
    static let isHeld = Flags(rawValue: 256)
    /// The context tells the object's observers when its lists may have changed.
    static let isWatched = Flags(rawValue: 512)
    /// The object has values that were saved from here: the row that is read next may have others.
    static let hasSavedValues = Flags(rawValue: 1024)
    /// Properties were changed that the context had saved, or that others had, and not read again: their bases are
    /// unknown, except those remembered (see ``MergeMemory``).
    static let hasUnreadChanges = Flags(rawValue: 2048)
    /// Deleted here, with an undo manager that can undo it.
    static let mayReturn = Flags(rawValue: 4096)
    /// Among the list owners that the context's observers know (see ``ListOwners``).
    static let ownsLists = Flags(rawValue: 8192)
    /// A merge, or an upsert, has dropped values that were read or saved here since the last save: the row that is read
    /// next may have others.
    static let hasMergedValues = Flags(rawValue: 16384)
  }

  /// The properties that changed since the last save, as far as setters know: those from 63 on share one mark, and
  /// `extras` has the exact set.
  @safe @exclusivity(unchecked) @usableFromInline private(set) var marks = ColumnSet()
  /// The bytes of the row as last read; `arena` keeps them.
  @safe @exclusivity(unchecked) @usableFromInline var row: UnsafeRawPointer?
  @safe @exclusivity(unchecked) @usableFromInline var layout: Unmanaged<RowLayout> =
    unsafe .passUnretained(_ModelState.noColumns)
  @safe @exclusivity(unchecked) var arena: RowArena?
  @safe @exclusivity(unchecked) @usableFromInline var rowByteCount: UInt32 = 0
  /// The context's epoch of the store when the row was read.
  @safe @exclusivity(unchecked) var rowEpoch: UInt32 = 0

  /// Whether the object is observed: only then do setters pay for observation.
  @safe @exclusivity(unchecked) public var isObserved = false
  /// Whether the context has indexed the unsaved object's values and position (see ``UnsavedModels``).
  @safe @exclusivity(unchecked) var isListedByValue = false
  @safe @exclusivity(unchecked) var flags: Flags = []
  @safe @exclusivity(unchecked) var unsavedPosition: Int32 = 0

  // Not counted: making an object of a row would count for each. The context's deinitializer clears it, or sets it to
  // the context's successor.
  @safe @exclusivity(unchecked) private unowned(unsafe) var ownContext: ModelContext?
  /// The object itself; valid whenever the state is reached through a context or a relationship.
  // Not counted: the object owns its state.
  @safe @exclusivity(unchecked) private unowned(unsafe) var object: AnyObject?
  // Not counted: the context's coordinator keeps its connections, and an object without a context has none.
  @safe @exclusivity(unchecked) unowned(unsafe) var connection: StoreConnection?
  @safe @exclusivity(unchecked) var reference = RowReference.none
  /// The origin, beside its row's key, of the identifier of an object without a connection: it is never
  /// freed.
  @safe @exclusivity(unchecked) private unowned(unsafe) var formerOrigin: IdentifierOrigin?
  /// The cached descriptor of the class. (Descriptors are never freed.)
  @safe @exclusivity(unchecked) private unowned(unsafe) var cachedDescriptor: ModelDescriptor?
  /// State that most objects never need.
  @safe @exclusivity(unchecked) private var extras: StateExtras?

  @usableFromInline static let noColumns = RowLayout([])

  public init() {}

  /// Makes the state of an object for a fetched row.
  init(
    _ object: Unmanaged<AnyObject>,
    _ descriptor: ModelDescriptor,
    at reference: RowReference,
    in connection: StoreConnection,
    of context: ModelContext
  ) {
    ownContext = context
    context.attachedCount += 1
    self.object = unsafe object.takeUnretainedValue()
    self.connection = connection
    self.reference = reference
    cachedDescriptor = descriptor
    layout = unsafe .passUnretained(descriptor.layout)
    flags = [.stored, .adopted]
  }

  deinit {
    leaveContext()
    if let extras, !extras.relations.isEmpty { extras.relations.leave() }
  }

  private func leaveContext() {
    guard let ownContext else { return }
    ownContext.checkDeparture()
    ownContext.detachedCount += 1
    ownContext.forget(self)
    if flags.contains(.keepsContext) { unsafe Unmanaged.passUnretained(ownContext).release() }
  }

  /// The context the object is registered in.
  var context: ModelContext? {
    get { ownContext }
    set {
      // Held until the object has left: the object may be the last that keeps the context.
      let former = ownContext
      if former === newValue { return }
      contextKeeper = nil
      if let former {
        former.forget(self)
        former.detachedCount += 1
      }
      newValue?.attachedCount += 1
      ownContext = newValue
      if newValue == nil { loseConnection() }
      recordLists()
    }
  }

  /// Keeps the context while the object has no unsaved changes.
  ///
  /// So a fetched object can follow its relationships even if the context has no other reference. An object
  /// with changes is held by the context instead: the two never hold each other.
  var contextKeeper: ModelContext? {
    get { flags.contains(.keepsContext) ? ownContext : nil }
    set {
      guard let ownContext, flags.contains(.keepsContext) != (newValue != nil) else { return }
      let reference = unsafe Unmanaged.passUnretained(ownContext)
      if newValue != nil {
        flags.insert(.keepsContext)
        _ = unsafe reference.retain()
      } else {
        flags.remove(.keepsContext)
        unsafe reference.release()
      }
    }
  }

  var model: (any PersistentModel)? {
    get {
      guard let object, let cachedDescriptor else { return nil }
      return cachedDescriptor.model(object)
    }
    set {
      object = newValue
      if let newValue { _ = descriptor(of: newValue) }
    }
  }

  /// The object as a model of a class, if it is one.
  func model<M: PersistentModel>(as type: M.Type) -> M? {
    // The usual case, in which no class hierarchy is searched.
    if let object, Swift.type(of: object) == type { return unsafe unsafeDowncast(object, to: type) }
    return model as? M
  }

  /// Whether none of the object's values are known yet, so that reading them needs no notification.
  var isUnread: Bool {
    unsafe row == nil && !flags.contains(.hasSavedValues) && object != nil
      && cachedDescriptor != nil
  }

  /// Whether there is a row that is not in memory.
  var needsRow: Bool {
    unsafe row == nil && flags.contains(.stored) && !flags.contains(.vanished)
  }

  var isDeleted: Bool { flags.contains(.deleted) }

  var hasChanges: Bool {
    context != nil && (flags.contains(.inserted) || flags.contains(.listed))
      || (isDeleted && context != nil)
  }

  /// The descriptor of the object's class.
  func descriptor(of model: some PersistentModel) -> ModelDescriptor {
    if let cachedDescriptor { return cachedDescriptor }
    let descriptor = ModelDescriptor.of(type(of: model))
    cachedDescriptor = descriptor
    return descriptor
  }

  /// The descriptor of a registered state, which thus knows its model.
  var descriptor: ModelDescriptor {
    if let cachedDescriptor { return cachedDescriptor }
    guard let model else { preconditionFailure("a state without a model has no descriptor") }
    return descriptor(of: model)
  }

  func setDescriptor(_ descriptor: ModelDescriptor) { cachedDescriptor = descriptor }
}

// MARK: State that most objects never need

/// The part of a state that is created on first need.
private final class StateExtras {
  @safe @exclusivity(unchecked) var relations: [Relation] = []
  @safe @exclusivity(unchecked) var pendingRanks = OrdinalMap<Int64>()
  @safe @exclusivity(unchecked) var nullified = OrdinalMap<RowReference>()
  @safe @exclusivity(unchecked) var mergeMemory: MergeMemory?
  /// The other ends that an initializer set, while the object is only asked for them (see
  /// ``_ModelState/adoptInitialRelationships(of:)``).
  @safe @exclusivity(unchecked) var initialEnds: [any PersistentModel]?
  /// Where the to-one relationships lead, once the object is deleted and has left its context.
  @safe @exclusivity(unchecked) var lastEnds: LastEnds?
  /// The changed properties from 63 on.
  @safe @exclusivity(unchecked) var farChanges = FarOrdinals()
  /// The changes with which the object left a context, not saved since: the row that was read has other values.
  @safe @exclusivity(unchecked) var unwrittenChanges = OrdinalSet()
  @safe @exclusivity(unchecked) var observation: _ObservationBox?
  /// The temporary identifier, or that of an object whose context is gone, if it is not its row's key.
  @safe @exclusivity(unchecked) var identifier: PersistentIdentifier?
}

extension _ModelState {
  fileprivate func makeExtras() -> StateExtras {
    if let extras { return extras }
    let made = StateExtras()
    extras = made
    return made
  }

  var relations: [Relation] {
    _read { if let extras { yield extras.relations } else { yield[] } }
    _modify { yield &makeExtras().relations }
  }

  /// The other ends that an initializer set, while the object is only asked for them; otherwise `nil`.
  var initialEnds: [any PersistentModel]? {
    _read { if let extras { yield extras.initialEnds } else { yield nil } }
    _modify { yield &makeExtras().initialEnds }
  }

  /// Reports to the observers of the context, if any, that the object may have got a list in memory.
  func recordLists() {
    if flags.contains(.ownsLists) || relations.isEmpty { return }
    context?.observers?.listOwners.insert(self)
  }

  /// Forgets every end of a relationship that is in memory.
  func dropRelations() { extras?.relations = [] }

  /// Places in lists that were assigned before the row is written; by ordinal of the to-one.
  var pendingRanks: OrdinalMap<Int64> {
    get { extras?.pendingRanks ?? OrdinalMap() }
    set { if !newValue.isEmpty || extras != nil { makeExtras().pendingRanks = newValue } }
  }

  func setPendingRank(_ rank: Int64, _ ordinal: Int) { makeExtras().pendingRanks[ordinal] = rank }

  func forgetPendingRanks() {
    if let extras, !extras.pendingRanks.isEmpty { extras.pendingRanks = OrdinalMap() }
  }

  /// The to-one ends that are nil because of a change of their target, by ordinal, with the target's row.
  ///
  /// Such an end is nil only as long as the store does not have another model there.
  var nullified: OrdinalMap<RowReference> {
    get { extras?.nullified ?? OrdinalMap() }
    set { if !newValue.isEmpty || extras != nil { makeExtras().nullified = newValue } }
  }
  /// Whether any reference is nil because of a change of another model.
  var hasNullified: Bool { extras.map { !$0.nullified.isEmpty } ?? false }

  /// Where the to-one relationships lead, once the object is deleted and has left its context.
  var lastEnds: LastEnds? {
    get { extras?.lastEnds }
    set { if newValue != nil || extras != nil { makeExtras().lastEnds = newValue } }
  }

  /// The comparison data of the save, beyond the row in memory.
  var mergeMemory: MergeMemory? {
    get { extras?.mergeMemory }
    set { if newValue != nil || extras != nil { makeExtras().mergeMemory = newValue } }
  }

  /// The properties that changed since the last save, as far as setters know.
  var changed: OrdinalSet {
    get { OrdinalSet(marks, farChanges) }
    set {
      marks = newValue.marks
      if let extras {
        extras.farChanges = newValue.far
      } else if !newValue.far.isEmpty {
        makeExtras().farChanges = newValue.far
      }
    }
  }

  private var farChanges: FarOrdinals {
    guard marks.contains(63), let extras else { return FarOrdinals() }
    return extras.farChanges
  }

  func forgetChanges() {
    if let extras {
      if marks.contains(63) { extras.farChanges = FarOrdinals() }
      extras.unwrittenChanges = OrdinalSet()
    }
    marks = ColumnSet()
  }

  /// The changed properties of which nothing is written if the object leaves its context: if it is inserted again, they have
  /// their values, and not those of the row that was read.
  var unwrittenChanges: OrdinalSet {
    get {
      var changes = changed
      if let extras { changes.formUnion(extras.unwrittenChanges) }
      return changes
    }
    set { if !newValue.isEmpty { makeExtras().unwrittenChanges = newValue } }
  }

  /// Whether a property was changed before the object left a context, and has not been saved since.
  func isUnwrittenChange(_ ordinal: Int) -> Bool {
    extras.map { $0.unwrittenChanges.contains(ordinal) } ?? false
  }

  @usableFromInline func isFarChanged(_ ordinal: Int) -> Bool { farChanges.contains(ordinal) }

  private func mark(_ ordinal: Int) {
    marks.insert(ordinal)
    if ordinal >= 63 { makeExtras().farChanges.insert(ordinal) }
  }

  func forgetNullified() {
    if let extras, !extras.nullified.isEmpty { extras.nullified = OrdinalMap() }
  }

  /// The observers, once there are any.
  var observation: _ObservationBox? {
    get { extras?.observation }
    set {
      makeExtras().observation = newValue
      if newValue != nil { context?.watch(self) }
    }
  }
}

// MARK: Reading

extension _ModelState {
  /// The row that a property is decoded from, fetched now if necessary.
  ///
  /// An absent row is returned for an object that was never saved or whose row is gone: a property
  /// without a value then answers with the neutral value of its type.
  @inlinable @inline(__always)
  func rowForReading() -> _RowView {
    if unsafe row == nil { loadRow() }
    return unsafe _RowView(base: row, byteCount: Int(rowByteCount), layout: layout)
  }

  @usableFromInline func loadRow() {
    guard unsafe row == nil, flags.contains(.stored), !flags.contains(.vanished), let context else {
      return
    }
    context.loadRow(of: self)
  }

  /// Whether the object exists in the store, or will after its save.
  func exists() -> Bool {
    loadRow()
    return !flags.contains(.vanished)
  }

  /// Whether the object is known to be deleted, here or in the store: no relationship shows it.
  var isKnownGone: Bool { !flags.isDisjoint(with: [.deleted, .vanished]) }

  /// Whether the object is deleted, here or in the store: a row that was never read is looked up now.
  var isGone: Bool { isDeleted || flags.contains(.stored) && !exists() }

  /// The current row, without fetching it.
  var currentRow: _RowView {
    unsafe _RowView(base: row, byteCount: Int(rowByteCount), layout: layout)
  }

  func setRow(_ fetched: FetchedRow) {
    keepBase()
    forgetShown()
    var fetched = fetched
    takeRow(of: &fetched)
  }

  /// Takes over a row, with the reference to its block.
  func takeRow(of fetched: inout FetchedRow) {
    swap(&arena, &fetched.arena)
    rowEpoch = listEpoch
    row = unsafe fetched.base
    rowByteCount = UInt32(truncatingIfNeeded: fetched.byteCount)
    layout = unsafe .passUnretained(descriptor.layout)
  }

  /// Takes over the row of a fault.
  func takeOver(_ stored: StoredRow, _ arena: RowArena) {
    self.arena = arena
    rowEpoch = arena.epoch
    row = unsafe stored.base
    rowByteCount = unsafe UInt32(truncatingIfNeeded: stored.byteCount)
  }

  func dropRow() {
    keepBase()
    row = nil
    rowByteCount = 0
    arena = nil
  }
}

// MARK: Changing

extension _ModelState {
  /// Records that a property is about to change.
  @inlinable @inline(__always)
  func willChange(_ ordinal: Int) {
    // Mostly a literal, so the compiler knows which of the two applies.
    if ordinal < 63 ? marks.contains(ordinal) : isFarChanged(ordinal) { return }
    recordChange(ordinal)
  }

  @usableFromInline func recordChange(_ ordinal: Int) {
    let wasChanged = ordinal < 63 ? marks.contains(ordinal) : isFarChanged(ordinal)
    mark(ordinal)
    guard let context, !flags.contains(.inserted) else { return }
    if unsafe row == nil || flags.contains(.hasUnreadChanges) {
      rememberUnread(ordinal, in: context)
    }
    if flags.contains(.listed) {
      context.unsaved.recordColumn(ordinal, of: self, isFurther: !wasChanged)
    } else {
      context.recordChange(of: self, property: ordinal)
    }
  }
}

// MARK: Identity

extension _ModelState {
  /// The object's identifier, created on first use.
  func identifier(of type: any PersistentModel.Type) -> PersistentIdentifier {
    if let identifier = identifierIfKnown { return identifier }
    if let connection, flags.contains(.stored) {
      if let identifier = connection.identifier(of: reference) { return identifier }
      return connection.identifier(of: reference, entityName: entityName(type))
    }
    let identifier = PersistentIdentifier(
      origin: cachedDescriptor?.temporaryOrigin ?? .named(store: nil, entity: entityName(type)),
      key: TemporaryKeys.next()
    )
    makeExtras().identifier = identifier
    if flags.contains(.inserted), let model { context?.registerTemporary(identifier, of: model) }
    return identifier
  }

  /// Drops the connection, which nothing keeps alive any more, and keeps the identifier that it would have given.
  private func loseConnection() {
    if connection != nil, flags.contains(.stored) {
      let identifier = identifier
      if identifier.rowKey == reference.key, identifier.id.origin.isLasting {
        formerOrigin = identifier.id.origin
      } else {
        makeExtras().identifier = identifier
      }
    }
    connection = nil
  }

  /// Whether the object has, or had, its row in a store; also after it has left its context.
  func isStored(in connection: StoreConnection) -> Bool {
    guard flags.contains(.stored) else { return false }
    if let known = self.connection { return known === connection }
    return identifierIfKnown?.storeIdentifier == connection.identifier
  }

  private func entityName(_ type: any PersistentModel.Type) -> String {
    cachedDescriptor?.entityName ?? model.map { descriptor(of: $0).entityName }
      ?? Schema.entityName(for: type)
  }

  var identifier: PersistentIdentifier { identifier(of: descriptor.type) }

  var identifierIfKnown: PersistentIdentifier? {
    if let identifier = extras?.identifier { return identifier }
    return formerOrigin.map { PersistentIdentifier(origin: $0, key: reference.key) }
  }

  /// Sets the object's identifier; `nil` has it created again on next use.
  func setIdentifier(_ identifier: PersistentIdentifier?) {
    formerOrigin = nil
    if identifier != nil || extras != nil { makeExtras().identifier = identifier }
  }

  /// Makes the object a row of a store: from now on its identifier is permanent.
  func becomeStored(at reference: RowReference, in connection: StoreConnection) {
    self.reference = reference
    self.connection = connection
    extras?.identifier = nil
    formerOrigin = nil
    flags.remove(.inserted)
    flags.insert(.stored)
  }
}
