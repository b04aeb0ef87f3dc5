import CModelRuntime
import Foundation
import RowFormat

extension ModelContext {
  /// The object for a row: the registered one, or a new one that reads the row when a value is needed.
  func model(at reference: RowReference, in connection: StoreConnection) -> (any PersistentModel)? {
    guard let descriptor = connection.descriptor(of: reference) else { return nil }
    switch unsafe maps[connection.index].occupant(at: reference) {
    case .fault(let object): return unsafe descriptor.model(object.takeUnretainedValue())
    case .state(let state): return unsafe state.takeUnretainedValue().model
    case nil: break
    }
    if mayTakeAlong(reference) {
      makeModelsTakenAlong()
      return model(at: reference, in: connection)
    }
    return makeModel(descriptor, at: reference, in: connection)
  }

  /// The object for a fetched row.
  ///
  /// A registered object keeps its values: its unsaved changes, and the values it has read.
  func model(for row: FetchedRow, in connection: StoreConnection) -> (any PersistentModel)? {
    guard let model = model(at: row.reference, in: connection) else { return nil }
    let state = model._$state
    if unsafe state.row == nil { refresh(state, from: row) }
    return model
  }

  private func makeModel(
    _ descriptor: ModelDescriptor,
    at reference: RowReference,
    in connection: StoreConnection
  ) -> any PersistentModel {
    let made = unsafe makeObject(
      descriptor.makeTemplate(),
      descriptor,
      at: reference,
      in: connection
    )
    return unsafe descriptor.model(made.object.takeRetainedValue())
  }

  /// Makes a new, empty object of a class for a row.
  ///
  /// - Returns: The object, with a reference owned by the caller, and its state.
  private func makeObject(
    _ template: ModelTemplate,
    _ descriptor: ModelDescriptor,
    at reference: RowReference,
    in connection: StoreConnection
  ) -> (object: Unmanaged<AnyObject>, state: _ModelState) {
    let made = unsafe template.make(descriptor, at: reference, in: connection, of: self)
    unsafe made.state.isObserved = undo.manager != nil
    unsafe beKept(by: made.state)
    unsafe maps[connection.index].insert(made.state, at: reference)
    return unsafe made
  }

  /// Makes objects for the rows of a fetch.
  ///
  /// - Parameters:
  ///   - rows: The rows, whose blocks pass to the objects.
  ///   - type: The class of the models, or their superclass.
  ///   - connection: The store.
  ///   - changeCount: The store's number of changes before the fetch.
  /// - Returns: The models, in the order of the rows.
  func materialize<T: PersistentModel>(
    _ rows: consuming [FetchedRow],
    as type: T.Type,
    in connection: StoreConnection,
    readAfter changeCount: UInt64?
  ) -> [T] {
    let descriptor = ModelDescriptor.of(type)
    let trace = editingState.trace
    let start = trace?.now
    let knownCount = maps[connection.index].count
    defer {
      trace?.add(.objects, since: start)
      trace?.addObjects(maps[connection.index].count - knownCount)
    }
    if connection.hasRelationships { noticeCommits(to: connection, readAfter: changeCount) }
    // For an empty array, this initializer writes to storage shared by the whole process.
    if rows.isEmpty { return [] }
    makeModelsTakenAlong(of: descriptor)
    if connection.loadsSiblings { connect(rows) }
    return unsafe Array(unsafeUninitializedCapacity: rows.count) { buffer, count in
      guard let start = buffer.baseAddress else { return }
      // Filled as their common superclass, so that one function serves every class.
      unsafe start.withMemoryRebound(to: Unmanaged<AnyObject>.self, capacity: rows.count) {
        objects in
        unsafe rows.withUnsafeMutableBufferPointer { rows in
          count = unsafe fill(objects, from: rows, of: descriptor, in: connection)
        }
      }
    }
  }

  /// Makes objects for the rows of a look-up, as ``materialize(_:as:in:readAfter:)`` does.
  ///
  /// - Parameters:
  ///   - rows: The rows, of which there is at least one.
  ///   - base: The class of the models, or their superclass.
  ///   - connection: The store.
  ///   - changeCount: The store's number of changes before the look-up.
  /// - Returns: The models, in the order of the rows.
  func objects(
    for rows: inout [FetchedRow],
    of base: ModelDescriptor,
    in connection: StoreConnection,
    readAfter changeCount: UInt64?
  ) -> _FoundModels {
    if connection.hasRelationships { noticeCommits(to: connection, readAfter: changeCount) }
    makeModelsTakenAlong(of: base)
    if connection.loadsSiblings { connect(rows) }
    if rows.count == 1 {
      return unsafe withUnsafeTemporaryAllocation(of: Unmanaged<AnyObject>.self, capacity: 1) {
        object in
        guard let start = object.baseAddress else { return .none }
        let count = unsafe rows.withUnsafeMutableBufferPointer {
          unsafe fill(start, from: $0, of: base, in: connection)
        }
        return unsafe count == 0 ? .none : .one(start.pointee.takeRetainedValue())
      }
    }
    return .many(
      unsafe Array(unsafeUninitializedCapacity: rows.count) { buffer, count in
        guard let start = buffer.baseAddress else { return }
        unsafe start.withMemoryRebound(to: Unmanaged<AnyObject>.self, capacity: rows.count) {
          objects in
          count = unsafe rows.withUnsafeMutableBufferPointer {
            unsafe fill(objects, from: $0, of: base, in: connection)
          }
        }
      }
    )
  }

  /// Makes objects for the members of a list that holds them.
  ///
  /// - Parameters:
  ///   - list: The members, with their rows.
  ///   - base: The class of the members, or their superclass.
  ///   - connection: The store.
  ///   - known: Tells whether an object that is not new, or has a state, is a member.
  /// - Returns: The members, in order.
  func models(
    of list: SiblingCache.List,
    as base: ModelDescriptor,
    in connection: StoreConnection,
    where known: (any PersistentModel) -> Bool
  ) -> [any PersistentModel] {
    makeModelsTakenAlong()
    let map = maps[connection.index]
    let fetched = list.answer.fetched
    var maker = ObjectMaker(base, undo.manager == nil ? self : nil, connection, map)
    var models: [any PersistentModel] = []
    models.reserveCapacity(list.members.count)
    for index in list.members {
      let row = unsafe fetched.members[index].row
      let reference = unsafe row.reference
      if unsafe map.occupant(at: reference) == nil, maker.turn(to: reference.table),
        let fault = unsafe maker.makeHeldFault(of: row)
      {
        unsafe models.append(maker.descriptor.model(fault.takeRetainedValue()))
      } else if let model = model(for: fetched.row(index), in: connection), known(model) {
        models.append(model)
      }
    }
    return models
  }

  /// Makes objects for rows.
  ///
  /// - Returns: Number of objects, each with a reference owned by the caller.
  private func fill(
    _ objects: UnsafeMutablePointer<Unmanaged<AnyObject>>,
    from rows: UnsafeMutableBufferPointer<FetchedRow>,
    of base: ModelDescriptor,
    in connection: StoreConnection
  ) -> Int {
    let map = maps[connection.index]
    if map.count < rows.count { map.reserveCapacity(rows.count) }
    var maker = ObjectMaker(base, undo.manager == nil ? self : nil, connection, map)
    defer { maker.releaseBlock() }
    var count = 0
    for index in rows.indices {
      let reference = unsafe rows[index].reference
      guard maker.turn(to: reference.table) else { continue }
      switch unsafe map.occupant(at: reference) {
      case .fault(let object)
      where unsafe !connection.loadsSiblings && maker.isCurrent(object, rows[index]):
        unsafe objects[count] = unsafe object.retain()
      case .fault, .state:
        guard let state = map[reference], let model = state.model else { continue }
        unsafe refresh(state, from: rows[index])
        // Even an equal row is set: it is newer, and has companions.
        if connection.loadsSiblings, unsafe state.row != nil { unsafe state.setRow(rows[index]) }
        unsafe objects[count] = unsafe Unmanaged.passRetained(model as AnyObject)
      case nil:
        if let fault = unsafe maker.makeFault(of: &rows[index]) {
          unsafe objects[count] = unsafe fault
        } else {
          let made = unsafe makeObject(
            maker.template,
            maker.descriptor,
            at: reference,
            in: connection
          )
          unsafe made.state.takeRow(of: &rows[index])
          unsafe objects[count] = unsafe made.object
        }
      }
      count += 1
    }
    return count
  }
}

/// Makes the objects of a fetch, class by class.
///
/// Safe to use, because references to the last block are released together, when rows of another block follow.
@safe private struct ObjectMaker {
  private let base: ModelDescriptor
  private let context: ModelContext?
  /// Whether there is a context, which is not asked for each row.
  private let makesFaults: Bool
  private let connection: StoreConnection
  private let map: IdentityMap
  // Rows of one class come together.
  private var table: UInt16?
  private(set) var descriptor: ModelDescriptor
  private(set) var template: ModelTemplate
  private var isWanted = false
  /// The block of the last row, which is the context's.
  private var lastArena: Unmanaged<RowArena>?
  /// Number of references to that block that came with rows, and must be released.
  private var referenceCount: UInt32 = 0

  /// - Parameters:
  ///   - base: The class of the objects, or their superclass.
  ///   - context: The context, if its objects may be made without states.
  ///   - connection: The store.
  ///   - map: The map that the objects are registered in.
  init(
    _ base: ModelDescriptor,
    _ context: ModelContext?,
    _ connection: StoreConnection,
    _ map: IdentityMap
  ) {
    self.base = base
    self.context = context
    makesFaults = context != nil
    self.connection = connection
    self.map = map
    descriptor = base
    template = base.makeTemplate()
  }

  /// Switches to the class of a table's rows.
  ///
  /// - Returns: Whether objects of that class are wanted.
  mutating func turn(to table: UInt16) -> Bool {
    if self.table == table { return isWanted }
    self.table = table
    releaseBlock()
    guard let own = connection.descriptor(of: RowReference(table: table, key: 0)),
      own.isKind(of: base)
    else {
      isWanted = false
      return false
    }
    isWanted = true
    descriptor = own
    template = own.makeTemplate()
    return true
  }

  /// Makes and registers an object that has only its row, whose block it takes over.
  ///
  /// - Returns: The object, with a reference owned by the caller, or `nil` if it must have a state.
  mutating func makeFault(of row: inout FetchedRow) -> Unmanaged<AnyObject>? {
    guard makesFaults, template.makesFaults, let arena = unsafe row.takeArena() else { return nil }
    if unsafe lastArena?.toOpaque() != arena.toOpaque()
      || !arena._withUnsafeGuaranteedRef({ $0.hasFaults })
    {
      releaseBlock()
      guard let context,
        unsafe arena._withUnsafeGuaranteedRef({
          unsafe $0.settle(in: home(of: context), epoch: context.listEpoch, heldBy: .app)
        })
      else {
        row.arena = unsafe arena.takeRetainedValue()
        return nil
      }
      unsafe lastArena = unsafe arena
    }
    referenceCount += 1
    guard let object = unsafe template.makeFault(row.row) else {
      preconditionFailure("a class whose objects can be copied once can be copied again")
    }
    unsafe arena._withUnsafeGuaranteedRef { $0.addFault() }
    unsafe map.insert(fault: object, at: row.reference)
    return unsafe object
  }

  /// Makes and registers an object that has only its row, for a relationship that holds it.
  ///
  /// - Returns: The object, with a reference owned by the caller, or `nil` if it must have a state.
  mutating func makeHeldFault(of row: StoredRow) -> Unmanaged<AnyObject>? {
    guard let context, template.makesFaults else { return nil }
    let arena = unsafe row.arena
    let isSettled = unsafe arena._withUnsafeGuaranteedRef {
      unsafe $0.settle(in: home(of: context), epoch: context.listEpoch, heldBy: .relationship)
    }
    guard isSettled, let object = unsafe template.makeFault(row) else { return nil }
    unsafe arena._withUnsafeGuaranteedRef { $0.addFault() }
    unsafe map.insert(fault: object, at: row.reference)
    return unsafe object
  }

  /// Releases, all at once, the references to the last block that came with rows.
  mutating func releaseBlock() {
    guard let arena = unsafe lastArena else { return }
    unsafe CModelRuntime_releaseObject(arena.toOpaque(), referenceCount)
    unsafe lastArena = nil
    referenceCount = 0
  }

  private func home(of context: ModelContext) -> RowArena.Home {
    unsafe RowArena.Home(
      context: Unmanaged.passUnretained(context).toOpaque(),
      connection: Unmanaged.passUnretained(connection).toOpaque(),
      map: Unmanaged.passUnretained(map).toOpaque(),
      descriptor: Unmanaged.passUnretained(descriptor).toOpaque(),
      layout: Unmanaged.passUnretained(descriptor.layout).toOpaque()
    )
  }

  /// Whether an object without a state has the bytes of a row that was fetched again.
  func isCurrent(_ fault: Unmanaged<AnyObject>, _ row: FetchedRow) -> Bool {
    guard let known = unsafe template.row(of: fault), unsafe known.byteCount == row.byteCount else {
      return false
    }
    return unsafe known.base == row.base || memcmp(known.base, row.base, row.byteCount) == 0
  }
}
