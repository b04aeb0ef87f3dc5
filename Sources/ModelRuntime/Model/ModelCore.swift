import RowFormat

/// The bookkeeping inside a model object: one word.
///
/// An object of a fetched row that was only asked for values is a *fault*: its word is
/// the address of its row's entry, which leads to all else (see ``RowArena``). Any other object has a
/// ``_ModelState``, made on first use. A fetch thus makes one allocation for each object, and
/// an object that is only read never makes another.
///
/// A fault is registered in its context, and keeps its row's block and the context, as a state does whose object has no
/// changes; but all faults of a block keep both together, once (see ``RowArena/addFault()``). A fault that was made for a
/// relationship does not keep the context.
@frozen public struct _ModelCore: ~Copyable {
  /// 0 for nothing yet; one more than the address of a row's entry, which is odd; or the address of a state.
  @usableFromInline var word: UInt

  @inlinable public init() { word = 0 }

  deinit { if word != 0 { _ModelCore.leave(word) } }

  /// The object's bookkeeping.
  @inlinable @inline(__always)
  public mutating func state(of model: some PersistentModel) -> _ModelState {
    if word & 1 == 0, let state = unsafe UnsafeRawPointer(bitPattern: word) {
      return unsafe Unmanaged<_ModelState>.fromOpaque(state).takeUnretainedValue()
    }
    return makeState(of: model)
  }

  /// The object's bookkeeping, uncounted.
  @inlinable @inline(__always)
  public mutating func stateReference(of model: some PersistentModel) -> _StateReference {
    if word & 1 == 0, let state = unsafe UnsafeRawPointer(bitPattern: word) {
      return unsafe _StateReference(.fromOpaque(state))
    }
    return unsafe _StateReference(.passUnretained(makeState(of: model)))
  }

  /// The row of a fault; none for an object with a state, or still without one.
  @inlinable @inline(__always)
  public var fetchedRow: _FetchedRow {
    unsafe _FetchedRow(word & 1 == 1 ? UnsafeRawPointer(bitPattern: word &- 1) : nil)
  }

  /// The word of a fault.
  static func word(of row: StoredRow) -> UInt { unsafe UInt(bitPattern: row.entry) | 1 }

  /// The word of an object with a state, which it keeps.
  static func word(of state: _ModelState) -> UInt {
    unsafe UInt(bitPattern: Unmanaged.passRetained(state).toOpaque())
  }
}

/// The state of an object that lives throughout its use, as accessors need it.
///
/// Retaining and releasing a reference to the state takes longer than everything else that setting a property
/// does.
@safe @frozen public struct _StateReference {
  @usableFromInline let state: Unmanaged<_ModelState>

  @inlinable init(_ state: Unmanaged<_ModelState>) { unsafe self.state = unsafe state }

  /// Whether the object is observed.
  @inlinable @inline(__always)
  public var isObserved: Bool { unsafe state._withUnsafeGuaranteedRef { $0.isObserved } }

  @inlinable @inline(__always)
  func willChange(_ ordinal: Int) {
    unsafe state._withUnsafeGuaranteedRef { $0.willChange(ordinal) }
  }

  @inlinable @inline(__always)
  func rowForReading() -> _RowView { unsafe state._withUnsafeGuaranteedRef { $0.rowForReading() } }
}

/// The row of an object without bookkeeping, if it has one.
@safe @frozen public struct _FetchedRow {
  @usableFromInline let entry: UnsafeRawPointer?

  @inlinable init(_ entry: UnsafeRawPointer?) { unsafe self.entry = unsafe entry }

  /// The row of an object with its own bookkeeping.
  @inlinable public static var none: _FetchedRow { unsafe _FetchedRow(nil) }

  @inlinable var stored: StoredRow? {
    if let entry = unsafe entry { unsafe StoredRow(entry: entry) } else { nil }
  }
  /// The context and map in which the object is registered.
  var home: RowArena.Home? { unsafe stored?.arena._withUnsafeGuaranteedRef { unsafe $0.home } }
  /// The holder of the object.
  var holder: RowArena.Holder? { unsafe stored?.arena._withUnsafeGuaranteedRef { $0.holder } }
}

extension _ModelCore {
  @usableFromInline
  mutating func makeState(of object: AnyObject) -> _ModelState {
    let state =
      unsafe fetchedRow.stored.map { unsafe _ModelState(object, takingOver: $0) } ?? _ModelState()
    word = _ModelCore.word(of: state)
    return state
  }

  /// Releases the target of a word: its object is being freed.
  @usableFromInline
  static func leave(_ word: UInt) {
    if word & 1 == 0 {
      guard let state = unsafe UnsafeRawPointer(bitPattern: word) else { return }
      return unsafe Unmanaged<_ModelState>.fromOpaque(state).release()
    }
    guard let entry = unsafe UnsafeRawPointer(bitPattern: word &- 1) else { return }
    let row = unsafe StoredRow(entry: entry)
    let arena = unsafe row.arena
    guard let home = unsafe arena._withUnsafeGuaranteedRef({ unsafe $0.home }) else { return }
    unsafe Unmanaged<ModelContext>.fromOpaque(home.context)._withUnsafeGuaranteedRef {
      $0.checkDeparture()
    }
    unsafe Unmanaged<IdentityMap>.fromOpaque(home.map)._withUnsafeGuaranteedRef {
      unsafe $0.removeFault(at: row.reference)
    }
    unsafe RowArena.removeFault(of: arena, in: home)
  }
}

extension _ModelState {
  /// Makes the state of an object that was a fault, in its place.
  fileprivate convenience init(_ object: AnyObject, takingOver row: StoredRow) {
    let arena = unsafe row.arena.takeUnretainedValue()
    guard let home = unsafe arena.home else { preconditionFailure("a fault is registered") }
    let context = unsafe Unmanaged<ModelContext>.fromOpaque(home.context).takeUnretainedValue()
    let connection = unsafe Unmanaged<StoreConnection>.fromOpaque(home.connection)
      .takeUnretainedValue()
    guard let descriptor = unsafe connection.descriptor(of: row.reference) else {
      preconditionFailure("a fault is of a class of its store")
    }
    unsafe self.init(
      .passUnretained(object),
      descriptor,
      at: row.reference,
      in: connection,
      of: context
    )
    unsafe takeOver(row, arena)
    switch arena.holder {
    case .app: contextKeeper = context
    case .relationship: flags.insert(.isHeld)
    }
    unsafe context.maps[connection.index].insert(self, at: row.reference)
    unsafe RowArena.removeFault(of: row.arena, in: home)
  }
}

extension PersistentModel {
  /// The row to read a property from, fetched now if necessary.
  @inlinable @inline(__always)
  func rowForReading() -> _RowView {
    if let row = unsafe _$fetchedRow.stored { return unsafe _RowView(row) }
    return _$stateReference.rowForReading()
  }
}
