public import Foundation

/// The policy of a save for an attribute that another save has changed since this context read it.
///
/// ```swift
/// context.mergePolicy = .throw
/// try context.save(mergePolicy: .decide { conflict in
///   conflict.property == "notes" ? .stored : .own
/// })
/// ```
///
/// A conflict concerns one attribute of one model: the value that the context read, the value that another context or actor
/// has saved since, and the value that this context is to save. Saves of different attributes of a model do not conflict,
/// nor do changes of relationships, additions (`add(_:to:)`), new models and deletes: these have their own rules.
///
/// The store compares the values when it gives the save its place among all saves, so no concurrent save gets between.
/// Stores over a log can do that, and the store on a server, which locks the rows. With any other store, a policy makes
/// every save throw, with the store's name.
public enum MergePolicy: Sendable {
  /// The value that is saved last stays; nothing is compared. The default.
  case lastWriter
  /// The save throws ``SwiftDataError/modelValidationFailure``, with ``MergeConflicts`` as its cause, and writes nothing.
  case `throw`
  /// The stored value stays: the context discards its value and takes over the stored one.
  ///
  /// If the value read is unknown (``MergeConflict/isReadKnown``), the save throws as with ``throw``.
  case keepStored
  /// The closure decides about each attribute. It runs during the save, and must not use the context.
  case decide(@Sendable (MergeConflict) -> MergeChoice)

  /// The object's side: the value to save overwrites the stored one, as ``lastWriter`` does.
  public static var keepOwn: MergePolicy { .lastWriter }

  /// Whether values have to be compared.
  var compares: Bool { if case .lastWriter = self { false } else { true } }
}

/// The resolution of a conflict about an attribute.
public enum MergeChoice: Sendable {
  /// The value that is stored stays.
  case stored
  /// The value of the context is saved.
  case own
  /// Another value is saved; it must be of the attribute's type.
  case value(any Sendable)
}

/// One attribute that two contexts have changed.
///
/// Unchecked, because the values are of any type. They are decoded for the conflict alone, except ``own``, which is the
/// model's.
public struct MergeConflict: @unchecked Sendable {
  /// The model.
  public let model: PersistentIdentifier
  /// The name of the attribute.
  public let property: String
  /// Whether ``read`` is known.
  ///
  /// It is unknown for a model that the context had saved, by this object or by another one with the same unique values,
  /// or had merged from others, and not read again before changing it, if the context was not comparing values then: only a
  /// save was given the policy. Then it cannot be determined whether there is a conflict.
  public let isReadKnown: Bool
  /// The value that the context read before it changed the attribute; `nil` is also an optional attribute's nil.
  public let read: Any?
  /// The value stored now; `nil` is also an optional attribute's nil.
  ///
  /// A value that has a file of its own (`.externalStorage`) is empty here and in ``read``.
  public let stored: Any?
  /// The value that this context is to save.
  public let own: Any?
}

extension MergeConflict: CustomStringConvertible {
  public var description: String {
    func text(_ value: Any?) -> String { value.map { "\($0)" } ?? "nil" }
    let former = isReadKnown ? "read as \(text(read))" : "not read since it was saved"
    return "\(model.entityName).\(property) of \(model): \(former), stored is \(text(stored)), "
      + "to be saved is \(text(own))"
  }
}

/// The conflicts for which a save was refused: the cause of a ``SwiftDataError/modelValidationFailure``.
public struct MergeConflicts: LocalizedError, Sendable, CustomStringConvertible {
  /// The conflicts, in no order; all those of the save in one store.
  public let conflicts: [MergeConflict]

  public var description: String { conflicts.map(\.description).joined(separator: "\n") }

  public var errorDescription: String? { description }
}
