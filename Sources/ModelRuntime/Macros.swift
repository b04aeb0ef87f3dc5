public import Foundation
import Observation

// MARK: Models

/// Makes a class a model: its stored properties are kept by a store, and observed.
///
/// ```swift
/// @Model
/// final class Trip {
///   var name: String
///   var startDate: Date
///   @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
///
///   init(name: String, startDate: Date) {
///     self.name = name
///     self.startDate = startDate
///   }
/// }
/// ```
///
/// Every stored property is persisted unless it is marked `@Transient`. Its type is a value that is
/// `Codable`, or another model, `[Model]`, or an optional of one of them: then it is a relationship.
/// `@Attribute` and `@Relationship` add options; `#Index` and `#Unique` cover several properties.
///
/// A class may inherit from another model; both are marked. A model is not `Sendable`: send its
/// `persistentModelID`, and look it up on the other side.
@attached(
  member,
  conformances: Observable,
  PersistentModel,
  Sendable,
  names: named(_$core),
  named(_$state),
  named(_$stateReference),
  named(_$fetchedRow),
  named(Root),
  named(_$Isolation),
  named(persistentBackingData),
  named(schemaMetadata),
  named(_$describedProperties),
  named(init),
  named(_$base),
  named(_$hasOnlySlots),
  named(_$ordinal),
  named(_$propertyCount),
  named(_$encode),
  named(_$adopt),
  named(_$reset),
  named(_$derive),
  named(_$observationRegistrar),
  named(_SwiftDataNoType),
  named(access),
  named(withMutation),
  named(_$equals)
)
@attached(memberAttribute)
@attached(extension, conformances: Observable, PersistentModel, Sendable)
public macro Model() = #externalMacro(module: "ModelMacros", type: "PersistentModelMacro")

/// Sets the storage options of a property's value.
///
/// ```swift
/// @Attribute(.unique, originalName: "ident") var identifier: String
/// @Attribute(.externalStorage) var photo: Data?
/// ```
///
/// - Parameters:
///   - options: Options of the value; see ``Schema/Attribute/Option``.
///   - originalName: The property's name in earlier versions of the model.
///   - hashModifier: A text that makes this version of the property differ from an equal looking one.
@attached(peer)
public macro Attribute(
  _ options: Schema.Attribute.Option...,
  originalName: String? = nil,
  hashModifier: String? = nil
) = #externalMacro(module: "ModelMacros", type: "AttributePropertyMacro")

/// Makes the store compute a property, and keep it consistent with its source.
///
/// ```swift
/// @Derived(.count(\Trip.stops)) var stopCount: Int
/// @Derived(.sum(of: \Expense.amount, over: \Trip.expenses)) var total: Int
/// @Derived(.canonical(\Trip.name)) var searchName: String
/// @Derived(.modificationDate) var lastModified: Date?
/// ```
///
/// The property is stored with its model, so predicates, sort descriptors and `#Index` can name it. It changes with a save, and
/// is the same for every context and process, despite concurrent saves. It cannot be set, and initializers leave it
/// alone: until the first save it is zero, empty or nil. See <doc:DerivedAttributes>.
///
/// - Parameter derivation: The source of the property; see ``Schema/Derivation``.
@attached(peer)
public macro Derived(_ derivation: Schema.Derivation) =
  #externalMacro(module: "ModelMacros", type: "DerivedPropertyMacro")

/// Describes how a property relates its model to others.
///
/// ```swift
/// @Relationship(deleteRule: .cascade, inverse: \Chapter.book) var chapters: [Chapter] = []
/// ```
///
/// Name the inverse on one side only: on both, the compiler reports a circular reference.
///
/// - Parameters:
///   - options: Options of the relationship; see ``Schema/Relationship/Option``.
///   - deleteRule: The action on the related models when this one is deleted.
///   - minimumModelCount: The minimum number of models the relationship may have when it is saved.
///   - maximumModelCount: The maximum number of models it may have; zero for any number.
///   - originalName: The property's name in earlier versions of the model.
///   - inverse: The property at the other end, which is kept consistent with this one.
///   - hashModifier: A text that makes this version of the property differ from an equal looking one.
@attached(peer)
public macro Relationship(
  _ options: Schema.Relationship.Option...,
  deleteRule: Schema.Relationship.DeleteRule = .nullify,
  minimumModelCount: Int? = 0,
  maximumModelCount: Int? = 0,
  originalName: String? = nil,
  inverse: AnyKeyPath? = nil,
  hashModifier: String? = nil
) = #externalMacro(module: "ModelMacros", type: "RelationshipPropertyMacro")

/// Keeps a property out of the store: it starts from its initial value whenever a model is fetched.
@attached(peer)
public macro Transient() = #externalMacro(module: "ModelMacros", type: "TransientPropertyMacro")

// MARK: Statements about several properties

/// Declares that no two models share the values of these properties.
///
/// ```swift
/// #Unique<Trip>([\.name], [\.startDate, \.endDate])
/// ```
///
/// Saving a second one updates the first.
///
/// - Parameter constraints: Lists of properties whose values, taken together, are unique.
@freestanding(declaration)
public macro Unique<T>(_ constraints: [PartialKeyPath<T>]...) =
  #externalMacro(module: "ModelMacros", type: "UniqueConstraintsMacro") where T: PersistentModel

/// Asks the store to keep these properties in order, so that fetches by them are fast.
///
/// ```swift
/// #Index<Trip>(.binary([\.name]), .rtree([\.latitude, \.longitude]))
/// ```
///
/// - Parameter indices: The indices, with their kinds.
@freestanding(declaration)
public macro Index<T>(_ indices: Schema.Index<T>.Types<T>...) =
  #externalMacro(module: "ModelMacros", type: "IndexMacro") where T: PersistentModel

/// Asks the store to keep these properties in order, so that fetches by them are fast.
///
/// ```swift
/// #Index<Trip>([\.name], [\.startDate, \.endDate])
/// ```
///
/// - Parameter indices: Lists of properties, the first of each the most significant.
@freestanding(declaration)
public macro Index<T>(_ indices: [PartialKeyPath<T>]...) =
  #externalMacro(module: "ModelMacros", type: "IndexMacro") where T: PersistentModel

// MARK: Predicates

/// Makes a predicate on models from a closure that tests one.
///
/// ```swift
/// let late = #Predicate<Trip> { $0.startDate < Date.now }
/// let ours = #Predicate<Trip> { late.evaluate($0) && $0.owner == me }
/// ```
///
/// It is Foundation's macro for models, with the same result, and accepts more:
///
/// - Parts that do not depend on the model are evaluated once, when the predicate is made: `Date.now`, `.active`,
///   `settings.limit`, `calendar.startOfDay(for: date)`.
/// - A model in a comparison means its row: only its identifier becomes part of the predicate. Make a predicate
///   anew after a model that it names was saved for the first time, since its identifier has changed then.
/// - Other predicates and expressions are evaluated inside; all of them are answered as one.
/// - `let`, `if` and `guard` may come before the result.
///
/// The closure itself never runs. For anything but models, `#Predicate` is Foundation's.
///
/// - Parameter body: The test; one expression, or statements that reduce to one.
@freestanding(expression)
public macro Predicate<each Input: PersistentModel>(
  _ body: (repeat each Input) -> Bool
) -> Predicate<repeat each Input> =
  #externalMacro(module: "ModelMacros", type: "ModelPredicateMacro")

/// Makes an expression on models from a closure, for predicates to evaluate inside.
///
/// ```swift
/// let days = #Expression<Trip, Int> { $0.stops.count * 2 }
/// let long = #Predicate<Trip> { days.evaluate($0) > limit }
/// ```
///
/// It accepts the same as ``Predicate(_:)``. For anything but models, `#Expression` is Foundation's.
///
/// - Parameter body: The value of the expression; it never runs.
@freestanding(expression)
public macro Expression<each Input: PersistentModel, Output>(
  _ body: (repeat each Input) -> Output
) -> Expression<repeat each Input, Output> =
  #externalMacro(module: "ModelMacros", type: "ModelExpressionMacro")

// MARK: Actors

/// Gives an actor a ``ModelContext`` of its own, to work with models off the main actor.
///
/// ```swift
/// @ModelActor
/// actor Importer {
///   func add(_ names: [String]) throws {
///     for name in names { modelContext.insert(Trip(name: name)) }
///     try modelContext.save()
///   }
/// }
///
/// try await Importer(modelContainer: container).add(names)
/// ```
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "ModelMacros", type: "PersistentModelActorMacro")

// MARK: Written by `@Model`

/// Persists the property; `@Model` writes it, with the property's place among those of its class.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_$s_))
public macro _PersistedProperty(_ ordinal: Int = 0) =
  #externalMacro(module: "ModelMacros", type: "PersistedPropertyMacro")

/// Persists a property of a class with properties inside `#if`.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_$s_))
public macro _PersistedProperty(place: Int) =
  #externalMacro(module: "ModelMacros", type: "PersistedPropertyMacro")

/// Persists the property through its `ValueTransformer`; written by `@Model`.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_$s_))
public macro _TransformablePersistedProperty(_ ordinal: Int = 0) =
  #externalMacro(module: "ModelMacros", type: "TransformablePersistedPropertyMacro")

/// Persists a transformable property of a class with properties inside `#if`.
@attached(accessor, names: named(init), named(get), named(set), named(_modify))
@attached(peer, names: prefixed(_$s_))
public macro _TransformablePersistedProperty(place: Int) =
  #externalMacro(module: "ModelMacros", type: "TransformablePersistedPropertyMacro")

/// Reads a property that the store computes; written by `@Model`.
@attached(accessor, names: named(get))
@attached(peer, names: prefixed(_$s_))
public macro _DerivedProperty(_ ordinal: Int = 0) =
  #externalMacro(module: "ModelMacros", type: "DerivedSlotMacro")

/// Reads a property that the store computes, of a class with properties inside `#if`.
@attached(accessor, names: named(get))
@attached(peer, names: prefixed(_$s_))
public macro _DerivedProperty(place: Int) =
  #externalMacro(module: "ModelMacros", type: "DerivedSlotMacro")
