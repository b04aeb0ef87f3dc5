import CModelRuntime
import RowFormat

/// Makes the objects of one class for fetched rows: copies of an empty one.
///
/// An initializer would run the initial values of all properties first, which the row then replaces; a
/// property `var id = UUID()` alone takes twenty times as long as all the rest. A model that has slots for
/// its properties, and no other storage, is a bit pattern while they are empty, apart from its
/// state. If a class has more (`@Transient` properties have their initial values after a fetch), or the
/// bits cannot be determined, the initializer runs.
///
/// Unchecked, because it keeps an empty object, which nothing changes and only the copying reads.
final class ModelTemplate: @unchecked Sendable {
  /// The bits of an empty object, which the template keeps, with the offset of its core.
  @safe private struct Pattern {
    let address: UnsafeRawPointer
    let size: Int
    let coreOffset: Int
  }

  /// Runs the initializer.
  private let makeEmpty: () -> any PersistentModel
  private let pattern: Pattern?
  /// Keeps the bits alive.
  private let object: (any PersistentModel)?

  init<M: PersistentModel>(of type: M.Type) {
    makeEmpty = {
      let model = M(backingData: _EmptyBackingData<M>())
      model._$reset()
      return model
    }
    guard type._$hasOnlySlots, Self.isModelAllTheWayUp(type) else {
      pattern = nil
      object = nil
      return
    }
    let object = M(backingData: _EmptyBackingData<M>())
    object._$reset()
    let address = unsafe UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    let state = unsafe UnsafeRawPointer(Unmanaged.passUnretained(object._$state).toOpaque())
    let size = unsafe CModelRuntime_instanceSize(address)
    let word = unsafe MemoryLayout<UnsafeRawPointer>.stride
    let places = stride(from: 2 * word, through: size - word, by: word).filter {
      unsafe address.load(fromByteOffset: $0, as: UnsafeRawPointer?.self) == state
    }
    pattern =
      unsafe places.count == 1 ? Pattern(address: address, size: size, coreOffset: places[0]) : nil
    self.object = object
  }

  static func make(for type: any PersistentModel.Type) -> ModelTemplate {
    func open<M: PersistentModel>(_ type: M.Type) -> ModelTemplate { ModelTemplate(of: type) }
    return open(type)
  }

  /// Whether objects can be made without a state.
  var makesFaults: Bool { pattern != nil }

  /// Makes an object that has only its row.
  ///
  /// - Returns: The object, with a reference owned by the caller; `nil` if the class does not allow it.
  func makeFault(_ row: StoredRow) -> Unmanaged<AnyObject>? {
    unsafe makeCopy { _ in unsafe _ModelCore.word(of: row) }
  }

  /// Makes an empty object for a row.
  ///
  /// - Returns: The object, with a reference owned by the caller, and its state.
  func make(
    _ descriptor: ModelDescriptor,
    at reference: RowReference,
    in connection: StoreConnection,
    of context: ModelContext
  ) -> (object: Unmanaged<AnyObject>, state: _ModelState) {
    var state: _ModelState?
    let copy = unsafe makeCopy { object in
      let made = unsafe _ModelState(object, descriptor, at: reference, in: connection, of: context)
      state = made
      return _ModelCore.word(of: made)
    }
    if let copy = unsafe copy, let state { return unsafe (copy, state) }
    return unsafe makeByInitializer(descriptor, at: reference, in: connection, of: context)
  }

  /// The row of a fault that was made here.
  func row(of fault: Unmanaged<AnyObject>) -> StoredRow? {
    guard let pattern else { return nil }
    let word = unsafe UnsafeRawPointer(fault.toOpaque()).load(
      fromByteOffset: pattern.coreOffset,
      as: UInt.self
    )
    return unsafe UnsafeRawPointer(bitPattern: word & ~1).map(StoredRow.init(entry:))
  }

  /// Copies the empty object, with a core of its own.
  @inline(__always)
  private func makeCopy(_ core: (Unmanaged<AnyObject>) -> UInt) -> Unmanaged<AnyObject>? {
    guard let pattern, let copy = unsafe CModelRuntime_copyObject(pattern.address, pattern.size)
    else { return nil }
    let object = unsafe Unmanaged<AnyObject>.fromOpaque(copy)
    unsafe copy.storeBytes(of: core(object), toByteOffset: pattern.coreOffset, as: UInt.self)
    return unsafe object
  }

  private func makeByInitializer(
    _ descriptor: ModelDescriptor,
    at reference: RowReference,
    in connection: StoreConnection,
    of context: ModelContext
  ) -> (object: Unmanaged<AnyObject>, state: _ModelState) {
    let model = makeEmpty()
    let state = model._$state
    state.model = model
    state.context = context
    state.connection = connection
    state.reference = reference
    state.flags = [.stored, .adopted]
    state.forgetChanges()
    return unsafe (Unmanaged.passRetained(model as AnyObject), state)
  }

  /// Whether all superclasses are models: others might have storage of their own.
  private static func isModelAllTheWayUp(_ type: any PersistentModel.Type) -> Bool {
    guard let superclass = _getSuperclass(type) else { return true }
    guard let model = superclass as? any PersistentModel.Type else { return false }
    return isModelAllTheWayUp(model)
  }
}
