/// What a save does with an attribute that another save has changed since this context read it.
///
/// ```swift
/// context.mergePolicy = .throw
/// try context.save(mergePolicy: .decide { conflict in
///   conflict.property == "notes" ? .stored : .own
/// })
/// ```
///
/// A conflict is about one attribute of one model: what the context read, what another context or actor has saved since,
/// and what this context is to save. Saves of different attributes of one model do not meet, and neither do changes of
/// relationships, additions (`add(_:to:)`), new models and deletes: these keep their own rules.
///
/// The store compares the values when it gives the save its place among all saves, so no concurrent save gets between.
/// Stores over a log can do that, and the store on a server, which locks the rows. For any other a policy makes every save throw,
/// with the store's name.
public enum MergePolicy: Sendable {
  /// The value that is saved last stays; nothing is compared. The default.
  case lastWriter
  /// The save throws ``SwiftDataError/modelValidationFailure``, with ``MergeConflicts`` as its cause, and writes nothing.
  case `throw`
  /// What is stored stays: the context gives up its value and takes over the stored one.
  ///
  /// Where it is not known what was read (``MergeConflict/isReadKnown``), the save throws as with ``throw``.
  case keepStored
  /// The closure decides about each attribute. It runs during the save, and must not use the context.
  case decide(@Sendable (MergeConflict) -> MergeChoice)

  /// The object's side: what is to be saved overwrites what is stored, which is what ``lastWriter`` does.
  public static var keepOwn: MergePolicy { .lastWriter }

  /// Whether values have to be compared.
  var compares: Bool { if case .lastWriter = self { false } else { true } }
}

/// What becomes of an attribute with a conflict.
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
/// Unchecked, because the values are of any type. They are decoded for the conflict alone, but for ``own``, which is the
/// model's.
public struct MergeConflict: @unchecked Sendable {
  /// The model.
  public let model: PersistentIdentifier
  /// The name of the attribute.
  public let property: String
  /// Whether ``read`` is known.
  ///
  /// It is not for a model that the context had saved, or had taken over what others saved of it, and not read again before it
  /// was changed, if the context was not comparing values then: only a save was given the policy. Then nobody can say whether
  /// there is a conflict.
  public let isReadKnown: Bool
  /// What the context read before it changed the attribute; `nil` is also an optional attribute's nil.
  public let read: Any?
  /// What is stored now; `nil` is also an optional attribute's nil.
  ///
  /// A value that has a file of its own (`.externalStorage`) is empty here and in ``read``.
  public let stored: Any?
  /// What this context is to save.
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
public struct MergeConflicts: Error, Sendable, CustomStringConvertible {
  /// The conflicts, in no order; all those of the save in one store.
  public let conflicts: [MergeConflict]

  public var description: String { conflicts.map(\.description).joined(separator: "\n") }
}
