public import RowFormat

/// The bookkeeping of one model object: where it belongs, what it was, what has changed.
///
/// Every model owns one. Generated accessors come here for the row a value is decoded from and to
/// say that a property is about to change; relationships live here altogether, because setting one
/// end has to move the other.
///
/// Not thread-safe, like the model it belongs to and the context both are used in.
public final class _ModelState {
  /// What is true of the object.
  struct Flags: OptionSet {
    let rawValue: UInt8
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
  }

  /// The properties that changed since the last save, as far as setters know.
  @usableFromInline var changed = ColumnSet()
  /// The bytes of the row as it was when it was last read; `arena` keeps them.
  @usableFromInline var row: UnsafeRawPointer?
  @usableFromInline var rowByteCount = 0
  @usableFromInline unowned(unsafe) var layout: RowLayout = _ModelState.noColumns
  var arena: RowArena?

  /// Whether somebody observes the object: only then do setters pay for observation.
  public var isObserved = false
  public var observation: _ObservationBox?

  var flags: Flags = []
  unowned(unsafe) var context: ModelContext?
  /// Keeps the context while the object has no unsaved changes.
  ///
  /// So a fetched object can follow its relationships even if nobody else holds the context. An object
  /// with changes is held by the context instead: the two never hold each other.
  var contextKeeper: ModelContext?
  /// The object itself; valid whenever the state is reached through a context or a relationship.
  unowned(unsafe) var model: (any PersistentModel)?
  unowned(unsafe) var connection: StoreConnection?
  var reference = RowReference.none
  private var cachedDescriptor: ModelDescriptor?
  private var cachedIdentifier: PersistentIdentifier?
  var relations: [Relation] = []
  /// Places in lists that were assigned before the row is written; by ordinal of the to-one.
  var pendingRanks: [Int: Int64]?
  /// The lists whose order was changed other than by appending; by ordinal.
  var reordered = ColumnSet()

  @usableFromInline static let noColumns = RowLayout([])

  public init() {}

  deinit {
    if let context { context.forget(self) }
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

  /// The descriptor, of a state that is registered and thus knows its model.
  var descriptor: ModelDescriptor {
    if let cachedDescriptor { return cachedDescriptor }
    guard let model else { preconditionFailure("a state without a model has no descriptor") }
    return descriptor(of: model)
  }

  func setDescriptor(_ descriptor: ModelDescriptor) { cachedDescriptor = descriptor }
}

// MARK: Reading

extension _ModelState {
  /// The row that a property is decoded from, fetched now if it has not been yet.
  ///
  /// An absent row is returned for an object that was never saved or whose row is gone: a property
  /// without a value then answers with the neutral value of its type.
  @inlinable @inline(__always)
  public func rowForReading<M: PersistentModel>(of model: M) -> _RowView {
    if row == nil { loadRow() }
    return _RowView(base: row, byteCount: rowByteCount, layout: layout)
  }

  @usableFromInline func loadRow() {
    guard row == nil, flags.contains(.stored), !flags.contains(.vanished), let context else {
      return
    }
    context.loadRow(of: self)
  }

  /// The row as it is, without fetching it.
  var currentRow: _RowView { _RowView(base: row, byteCount: rowByteCount, layout: layout) }

  func setRow(_ fetched: FetchedRow) {
    arena = fetched.arena
    row = fetched.base
    rowByteCount = fetched.byteCount
    layout = descriptor.layout
  }

  func dropRow() {
    row = nil
    rowByteCount = 0
    arena = nil
  }
}

// MARK: Changing

extension _ModelState {
  /// Takes note that a property is about to change.
  @inlinable @inline(__always)
  public func willChange<M: PersistentModel>(_ ordinal: Int, of model: M) {
    if changed.contains(ordinal) { return }
    noteChange(ordinal)
  }

  @usableFromInline func noteChange(_ ordinal: Int) {
    changed.insert(ordinal)
    guard let context, !flags.contains(.inserted), !flags.contains(.listed) else { return }
    context.noteChange(of: self)
  }
}

// MARK: Identity

extension _ModelState {
  /// The object's identifier, made when it is first asked for.
  func identifier(of type: any PersistentModel.Type) -> PersistentIdentifier {
    if let cachedIdentifier { return cachedIdentifier }
    let identifier =
      if let connection, flags.contains(.stored) {
        connection.identifier(of: reference, entityName: entityName(type))
      } else {
        PersistentIdentifier.makeTemporary(entityName: entityName(type))
      }
    cachedIdentifier = identifier
    return identifier
  }

  private func entityName(_ type: any PersistentModel.Type) -> String {
    cachedDescriptor?.entityName ?? model.map { descriptor(of: $0).entityName }
      ?? String(describing: type)
  }

  var identifier: PersistentIdentifier { identifier(of: descriptor.type) }

  var identifierIfKnown: PersistentIdentifier? { cachedIdentifier }

  /// Gives the object an identifier; `nil` has it made anew when it is next asked for.
  func setIdentifier(_ identifier: PersistentIdentifier?) { cachedIdentifier = identifier }

  /// Makes the object a row of a store: from now on its identifier is permanent.
  func becomeStored(at reference: RowReference, in connection: StoreConnection) {
    self.reference = reference
    self.connection = connection
    cachedIdentifier = nil
    flags.remove(.inserted)
    flags.insert(.stored)
  }
}

extension PersistentIdentifier {
  /// A temporary identifier that no other model of the process has.
  static func makeTemporary(entityName: String) -> PersistentIdentifier {
    PersistentIdentifier(
      origin: .named(store: nil, entity: entityName),
      key: TemporaryKeys.next()
    )
  }
}
