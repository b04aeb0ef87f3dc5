/// What became of the rows of one class that had expired.
public struct ExpirationReport: Hashable, Sendable {
  /// The entity of the rule; rows of its subclasses are counted, too.
  public let entityName: String
  /// How many rows were deleted, those that a delete rule took along included.
  public package(set) var deletedCount = 0
  /// How many rows have expired and stay for now: a delete rule denies the delete, or a related model would not be valid
  /// without them.
  public package(set) var keptCount = 0
  /// Why one of them stays; `nil` if none does.
  public package(set) var keptReason: String?
  /// How many commits deleted them.
  public package(set) var commitCount = 0
  /// How long looking for the rows took.
  public package(set) var searchDuration = Duration.zero
  /// How long it took in all, with the pauses between commits.
  public package(set) var duration = Duration.zero
  /// Why it was given up before its end; the rows that are left are tried again later.
  public package(set) var failure: String?

  package init(entityName: String) { self.entityName = entityName }
}
