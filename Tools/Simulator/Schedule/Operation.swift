/// One step of a schedule: something that a program does in one of its contexts.
///
/// Steps name rows by their keys. A step about a row that is not there is skipped, so that any part of a
/// schedule is a schedule: that is what makes shrinking simple.
struct Operation: Codable, Hashable, Sendable {
  /// The number of the context; of no meaning for a step on the store.
  var context: Int
  var action: Action
  /// The way in which the models of the step are found.
  var access = Access.held

  enum Action: Codable, Hashable, Sendable {
    case insert(Kind, key: Int, Insertion)
    case set(key: Int, Attribute, Int)
    case delete(key: Int)
    case deleteWhere(Kind, group: Int)
    /// Sets the to-one end of a member.
    case link(Relation, member: Int, owner: Int?)
    /// Sets the to-one end of an owner, of a one-to-one relationship.
    case linkPartner(Relation, owner: Int, member: Int?)
    case append(Relation, End, key: Int, Int)
    case insertAt(Relation, End, key: Int, Int, place: Int)
    case remove(Relation, End, key: Int, Int)
    case assign(Relation, End, key: Int, [Int])
    case fetch(Query)
    /// Reads everything, and compares it.
    case look
    case save
    case rollback
    case process
    case undo
    case redo
    /// Releases every model that the program holds.
    case release
    /// Releases the context and makes another.
    case renew
    case compact
    case reopen
    /// Reads what was committed since the history was last read.
    case history
  }

  /// The way in which a new model comes into a context.
  enum Insertion: Codable, Hashable, Sendable {
    /// With `insert`.
    case plain
    /// By its to-one end, set before or after `insert`, or without it.
    case linkedBefore(Relation, owner: Int)
    case linkedAfter(Relation, owner: Int)
    case linkedOnly(Relation, owner: Int)
    /// By being appended to a list, without `insert`.
    case appended(Relation, owner: Int)
  }

  /// The way in which a program finds a model.
  enum Access: String, Codable, CaseIterable, Sendable {
    /// It holds it already, or fetches it by its key and holds it.
    case held
    /// It fetches it by its key, and releases it after the step.
    case fetched
    /// It fetches the class, and looks for it.
    case searched
    /// It asks for the model of an identifier.
    case identified
  }
}
