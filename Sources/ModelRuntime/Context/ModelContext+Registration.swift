import Foundation
import RowFormat

extension ModelContext {
  /// The object for a row: the one there is, or a new one that will read the row when it is asked
  /// for a value.
  func model(at reference: RowReference, in connection: StoreConnection) -> (any PersistentModel)? {
    guard let descriptor = connection.descriptor(of: reference) else { return nil }
    switch maps[connection.index].occupant(at: reference) {
    case .fault(let object): return descriptor.model(object.takeUnretainedValue())
    case .state(let state): return state.takeUnretainedValue().model
    case nil: break
    }
    return makeModel(descriptor, at: reference, in: connection)
  }

  /// The object for a fetched row.
  ///
  /// An object that is there already keeps its values: its unsaved changes, and what it has read.
  func model(for row: FetchedRow, in connection: StoreConnection) -> (any PersistentModel)? {
    guard let model = model(at: row.reference, in: connection) else { return nil }
    let state = model._$state
    if state.row == nil { refresh(state, from: row) }
    return model
  }

  private func makeModel(
    _ descriptor: ModelDescriptor,
    at reference: RowReference,
    in connection: StoreConnection
  ) -> any PersistentModel {
    let made = makeObject(descriptor.makeTemplate(), descriptor, at: reference, in: connection)
    return descriptor.model(made.object.takeRetainedValue())
  }

  /// Makes a new, empty object of a class stand for a row.
  ///
  /// - Returns: The object, with a reference that is the caller's, and its state.
  private func makeObject(
    _ template: ModelTemplate,
    _ descriptor: ModelDescriptor,
    at reference: RowReference,
    in connection: StoreConnection
  ) -> (object: Unmanaged<AnyObject>, state: _ModelState) {
    let made = template.make(descriptor, at: reference, in: connection, of: self)
    made.state.isObserved = undo.manager != nil
    beKept(by: made.state)
    maps[connection.index].insert(made.state, at: reference)
    return made
  }

  /// Makes objects for the rows of a fetch.
  ///
  /// - Parameters:
  ///   - rows: The rows, whose blocks pass to the objects.
  ///   - type: The class of the models, or their superclass.
  ///   - connection: The store.
  ///   - changeCount: How many changes the store counted before the fetch.
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
    return Array(unsafeUninitializedCapacity: rows.count) { buffer, count in
      guard let start = buffer.baseAddress else { return }
      // Filled as what they all are at bottom, so that one function serves every class.
      start.withMemoryRebound(to: Unmanaged<AnyObject>.self, capacity: rows.count) { objects in
        rows.withUnsafeMutableBufferPointer { rows in
          count = fill(objects, from: rows, of: descriptor, in: connection)
        }
      }
    }
  }

  /// Makes objects for rows.
  ///
  /// - Returns: How many there are; each with a reference that is the caller's.
  private func fill(
    _ objects: UnsafeMutablePointer<Unmanaged<AnyObject>>,
    from rows: UnsafeMutableBufferPointer<FetchedRow>,
    of base: ModelDescriptor,
    in connection: StoreConnection
  ) -> Int {
    let map = maps[connection.index]
    if map.count < rows.count { map.reserveCapacity(rows.count) }
    var maker = ObjectMaker(base, undo.manager == nil ? self : nil, connection, map)
    var count = 0
    for index in rows.indices {
      let reference = rows[index].reference
      guard maker.turn(to: reference.table) else { continue }
      switch map.occupant(at: reference) {
      case .fault(let object) where maker.isCurrent(object, rows[index]):
        objects[count] = object.retain()
      case .fault, .state:
        guard let state = map[reference], let model = state.model else { continue }
        refresh(state, from: rows[index])
        objects[count] = Unmanaged.passRetained(model as AnyObject)
      case nil:
        if let fault = maker.makeFault(of: &rows[index]) {
          objects[count] = fault
        } else {
          let made = makeObject(maker.template, maker.descriptor, at: reference, in: connection)
          made.state.takeRow(of: &rows[index])
          objects[count] = made.object
        }
      }
      count += 1
    }
    return count
  }
}

/// Makes the objects of a fetch, those of one class after those of another.
private struct ObjectMaker {
  private let base: ModelDescriptor
  private let context: ModelContext?
  private let connection: StoreConnection
  private let map: IdentityMap
  // Rows of one class come together.
  private var table: UInt16?
  private(set) var descriptor: ModelDescriptor
  private(set) var template: ModelTemplate
  private var isWanted = false
  /// The block of the last row, which is the context's.
  private var lastArena: Unmanaged<RowArena>?

  /// - Parameters:
  ///   - base: The class of the objects, or their superclass.
  ///   - context: The context, if its objects may be made without states.
  ///   - connection: The store.
  ///   - map: Where the objects are registered.
  init(
    _ base: ModelDescriptor,
    _ context: ModelContext?,
    _ connection: StoreConnection,
    _ map: IdentityMap
  ) {
    self.base = base
    self.context = context
    self.connection = connection
    self.map = map
    descriptor = base
    template = base.makeTemplate()
  }

  /// Turns to the class of a table's rows.
  ///
  /// - Returns: Whether objects of that class are wanted.
  mutating func turn(to table: UInt16) -> Bool {
    if self.table == table { return isWanted }
    self.table = table
    lastArena = nil
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

  /// Makes an object that knows nothing but its row, whose block it takes over, and registers it.
  ///
  /// - Returns: The object, with a reference that is the caller's, or `nil` if it must have a state.
  mutating func makeFault(of row: inout FetchedRow) -> Unmanaged<AnyObject>? {
    guard let context, template.makesFaults, let arena = row.takeArena() else { return nil }
    if lastArena?.toOpaque() != arena.toOpaque() {
      guard
        arena._withUnsafeGuaranteedRef({
          $0.settle(in: home(of: context), epoch: context.listEpoch)
        })
      else {
        row.arena = arena.takeRetainedValue()
        return nil
      }
      lastArena = arena
    }
    guard let object = template.makeFault(row.row) else {
      preconditionFailure("a class whose objects can be copied once can be copied again")
    }
    _ = Unmanaged.passRetained(context)
    map.insert(fault: object, at: row.reference)
    return object
  }

  private func home(of context: ModelContext) -> RowArena.Home {
    RowArena.Home(
      context: Unmanaged.passUnretained(context).toOpaque(),
      connection: Unmanaged.passUnretained(connection).toOpaque(),
      map: Unmanaged.passUnretained(map).toOpaque(),
      layout: Unmanaged.passUnretained(descriptor.layout).toOpaque()
    )
  }

  /// Whether an object without a state has the bytes of a row that was fetched again.
  func isCurrent(_ fault: Unmanaged<AnyObject>, _ row: FetchedRow) -> Bool {
    guard let known = template.row(of: fault), known.byteCount == row.byteCount else {
      return false
    }
    return known.base == row.base || memcmp(known.base, row.base, row.byteCount) == 0
  }
}
