/// One step of a schedule: something that a program does in one of its contexts.
///
/// Steps name rows by their keys. A step about a row that is not there is skipped, so that any part of a
/// schedule is a schedule: that is what makes shrinking simple.
struct Operation: Codable, Hashable, Sendable {
  /// Which context; for what is done to the store, none in particular.
  var context: Int
  var action: Action
  /// How the models are found that the step is about.
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
    /// Lets go of every model the program holds.
    case release
    /// Lets go of the context and makes another.
    case renew
    case compact
    case reopen
    /// Reads what was committed since the history was last read.
    case history
  }

  /// How a new model comes into a context.
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

  /// How a program comes by a model.
  enum Access: String, Codable, CaseIterable, Sendable {
    /// It holds it already, or fetches it by its key and holds it.
    case held
    /// It fetches it by its key, and lets go of it after the step.
    case fetched
    /// It fetches the class, and looks for it.
    case searched
    /// It asks for the model of an identifier.
    case identified
  }
}
