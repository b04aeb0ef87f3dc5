/// What taking transactions back has come to: new changes of a context, and what could not be taken back.
public struct Reversal {
  /// The models whose attributes or relationships were set to what they had been.
  public internal(set) var updated: [PersistentIdentifier] = []
  /// The models that the transactions had inserted, and that are deleted now.
  public internal(set) var deleted: [PersistentIdentifier] = []
  /// The models that the transactions had deleted, and that are there again.
  public internal(set) var restored: [RestoredModel] = []
  /// What stays as it is, because others have built on it.
  public internal(set) var conflicts: [ReversalConflict] = []
}

/// A model that was deleted, and is there again as a new one.
public struct RestoredModel {
  /// The identifier that it had.
  public let formerIdentifier: PersistentIdentifier
  /// The new model, which is not saved yet.
  public let model: any PersistentModel
}

/// Why something that a transaction did is not taken back.
public struct ReversalConflict: Sendable {
  /// The model, by the identifier that it had when the transaction changed it.
  public let model: PersistentIdentifier
  /// The attribute or relationship that keeps what it has; `nil` if it is the whole model.
  public let property: String?
  /// What is in the way.
  public let reason: Reason

  /// What is in the way of taking something back.
  public enum Reason: Sendable, Hashable {
    /// A later transaction changed the same.
    ///
    /// - Parameters:
    ///   - transaction: Its number in its store.
    ///   - author: Who made it.
    case changedSince(transaction: Int64, author: String?)
    /// A later transaction deleted the model, with what the transactions had set.
    ///
    /// - Parameters:
    ///   - transaction: Its number in its store.
    ///   - author: Who made it.
    case deletedSince(transaction: Int64, author: String?)
    /// The context has changed it, and has not saved that.
    case changedHere
    /// Another model refers to the model that would be deleted.
    case stillReferredTo(by: PersistentIdentifier)
    /// The model that a relationship led to is gone.
    case destinationGone
    /// Another model has a value that must be unique.
    case valueTaken(by: PersistentIdentifier)
    /// The former value can no longer be read, or can no longer be set.
    case valueUnknown
  }
}

extension ReversalConflict: CustomStringConvertible {
  public var description: String {
    let subject = property.map { "\(model.entityName).\($0) of \(model)" } ?? "\(model)"
    let cause =
      switch reason {
      case .changedSince(let transaction, let author):
        "transaction \(transaction)\(author.map { " of \($0)" } ?? "") has changed it since"
      case .deletedSince(let transaction, let author):
        "transaction \(transaction)\(author.map { " of \($0)" } ?? "") has deleted it since"
      case .changedHere: "the context has unsaved changes to it"
      case .stillReferredTo(let other): "\(other) refers to it"
      case .destinationGone: "the model that it led to is gone"
      case .valueTaken(let holder): "\(holder) has the value, which must be unique"
      case .valueUnknown: "its former value cannot be read or set any more"
      }
    return "\(subject) stays as it is: \(cause)"
  }
}
