import RowFormat

/// One relationship of one object, as far as it is in memory.
///
/// What is not loaded is found in the row, or at the other end through the store; so an untouched
/// list costs nothing, however long it is. Loaded ends are strong references: a context drops them
/// when it saves or goes away, which is what keeps `author.books` and `book.author` from keeping each
/// other alive for ever.
enum Relation {
  case unloaded
  case one((any PersistentModel)?)
  case many(RelatedModels)
}
