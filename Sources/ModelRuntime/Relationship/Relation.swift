import RowFormat

/// One relationship of one object, if it is in memory.
///
/// An unloaded end is found in the row, or at the other end through the store; so an untouched
/// list costs nothing, however long it is. Loaded ends are strong references: a context drops them
/// when it saves or is freed, so that `author.books` and `book.author` do not keep each
/// other alive for ever.
enum Relation {
  case unloaded
  case one((any PersistentModel)?)
  case many(RelatedModels)
}
