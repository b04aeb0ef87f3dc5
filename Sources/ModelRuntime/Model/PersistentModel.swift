public import Observation
import RowFormat

/// A class whose objects a ``ModelContext`` stores; conformance is written by `@Model`.
///
/// Objects are compared by identity: `==` tests whether two variables refer to the same object, which
/// within a context means the same row.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
  /// The top class of the hierarchy this model belongs to.
  associatedtype Root: PersistentModel = Self

  /// Whether the properties belong to an actor. Written by `@Model` for a class that names one.
  associatedtype _$Isolation = _NotIsolated

  /// Creates an object that reads its values from `backingData`.
  init(backingData: any BackingData<Self>)

  /// A view of the object's values by key path.
  var persistentBackingData: any BackingData<Self> { get set }

  /// The stored properties, in declaration order, without those of the superclass.
  static var schemaMetadata: [Schema.PropertyMetadata] { get }

  /// The object's bookkeeping: context, identifier, row, changes. Written by `@Model`.
  var _$state: _ModelState { get }

  /// The same, unretained: only for as long as the object is held. Written by `@Model`.
  var _$stateReference: _StateReference { get }

  /// The row of an object that was fetched and has no bookkeeping yet. Written by `@Model`.
  var _$fetchedRow: _FetchedRow { get }

  /// Whether objects of the class store nothing but slots and their state. Written by `@Model`.
  static var _$hasOnlySlots: Bool { get }

  /// Writes every persisted property of the class and its superclasses into a row. Written by `@Model`.
  func _$encode(into encoder: inout _RowEncoder)

  /// Passes relationship values that an initializer left in their slots to the state. Written by `@Model`.
  func _$adopt()

  /// Forgets the values held in slots, so that the next read decodes the row. Written by `@Model`.
  func _$reset(keeping kept: _KeptProperties)

  /// Puts computed values into the slots of derived properties. Written by `@Model`.
  func _$derive(from values: _DerivedValues)
}

/// The properties of a model whose values are kept.
@frozen public struct _KeptProperties {
  @usableFromInline let ordinals: UInt64
  @usableFromInline let farWords: [UInt64]

  init(_ kept: OrdinalSet) {
    ordinals = kept.marks.rawValue
    farWords = kept.far.words
  }

  /// Whether a property is kept.
  @inlinable public func contains(_ ordinal: Int) -> Bool {
    ordinal < 63
      ? ordinals & (1 &<< UInt64(truncatingIfNeeded: ordinal)) != 0 : containsFar(ordinal)
  }

  @usableFromInline func containsFar(_ ordinal: Int) -> Bool {
    FarOrdinals(words: farWords).contains(ordinal)
  }
}

extension PersistentModel {
  public static var _$hasOnlySlots: Bool { false }
  public var _$stateReference: _StateReference { unsafe _StateReference(.passUnretained(_$state)) }
  public var _$fetchedRow: _FetchedRow { .none }
  public func _$derive(from values: _DerivedValues) {}

  /// Forgets the values of all properties, with exceptions.
  func _$reset(keeping kept: OrdinalSet = OrdinalSet()) { _$reset(keeping: _KeptProperties(kept)) }

  /// The context the object is registered in, or `nil` before `insert` and after a saved delete.
  public var modelContext: ModelContext? {
    if let home = unsafe _$fetchedRow.home {
      return unsafe Unmanaged.fromOpaque(home.context).takeUnretainedValue()
    }
    return _$state.context
  }

  /// The identifier of the object: temporary until its first save, permanent and equal to itself in
  /// every context from then on.
  public var persistentModelID: PersistentIdentifier {
    if let row = unsafe _$fetchedRow.stored, let home = unsafe _$fetchedRow.home,
      let identifier = unsafe Unmanaged<StoreConnection>.fromOpaque(home.connection)
        ._withUnsafeGuaranteedRef({ unsafe $0.identifier(of: row.reference) })
    {
      return identifier
    }
    return _$state.identifier(of: Self.self)
  }

  /// The identifier of the model: ``persistentModelID``.
  public var id: PersistentIdentifier { persistentModelID }

  /// Whether the object has changes that are not saved yet.
  public var hasChanges: Bool { unsafe _$fetchedRow.stored == nil && _$state.hasChanges }

  /// Whether the object has been deleted from its context.
  ///
  /// It stays `true` after the delete is saved, for the life of the object: a deleted object still
  /// answers with its last values, which may be outdated. It is also `true` for a row that the store no
  /// longer has; if an object has not read its row yet, the row is looked up now.
  public var isDeleted: Bool { unsafe _$fetchedRow.stored == nil && _$state.isGone }

  public static func == (lhs: Self, rhs: Self) -> Bool { lhs === rhs }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A collection that can be a to-many relationship: `[M]` or `[M]?`.
public protocol RelationshipCollection {
  /// The class of the members.
  associatedtype PersistentElement: PersistentModel
}

extension Array: RelationshipCollection where Element: PersistentModel {
  /// The class of the members.
  public typealias PersistentElement = Element
}

extension Optional: RelationshipCollection
where Wrapped: Sequence, Wrapped.Element: PersistentModel {
  /// The class of the members.
  public typealias PersistentElement = Wrapped.Element
}

/// Calls the function that describes the properties of a class isolated to a global actor; called by `@Model`.
///
/// A description consists of key paths and initial values, and reads no object: so it may be made
/// on any thread.
///
/// - Parameter properties: A function without parameters, of any actor.
/// - Returns: The result of the function.
public func _describing<Function>(_ properties: Function) -> [Schema.PropertyMetadata] {
  unsafe unsafeBitCast(properties, to: (() -> [Schema.PropertyMetadata]).self)()
}
