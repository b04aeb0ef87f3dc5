/// The result of one pass over the expired rows of a class.
public struct ExpirationReport: Hashable, Sendable {
  /// The entity of the rule; rows of its subclasses are counted, too.
  public let entityName: String
  /// The number of rows deleted, including those deleted by a delete rule.
  public package(set) var deletedCount = 0
  /// The number of expired rows that stay for now: a delete rule denies the delete, or a related model would not be valid
  /// without them.
  public package(set) var keptCount = 0
  /// The reason that one of these rows stays; `nil` if there are none.
  public package(set) var keptReason: String?
  /// The number of commits that deleted rows.
  public package(set) var commitCount = 0
  /// The duration of the search for the rows.
  public package(set) var searchDuration = Duration.zero
  /// The total duration, including the pauses between commits.
  public package(set) var duration = Duration.zero
  /// The reason that the pass was given up; the remaining rows are tried again later.
  public package(set) var failure: String?

  package init(entityName: String) { self.entityName = entityName }
}
