/// The changes of an observer's results, as a sequence that ends when its task is cancelled.
///
/// ```swift
/// for await change in observer.changes { list.apply(change.difference) }
/// ```
///
/// The first change comes at once, and leads from nothing to the current results. Each later one covers everything since the
/// previous one: a slow consumer gets fewer changes, and none waits in a queue. Changes that cancel each other
/// in the meantime do not appear. Each iterator is a separate consumer.
///
/// The sequence never throws. If a fetch fails, the change has a ``ResultsChange/fetchError``; the fetch is tried
/// again after the next change.
///
/// It belongs to the observer's owner: iterate in that actor, or in the task that owns the context. A task that
/// iterates keeps the observed results and their context; cancel it when they are no longer needed. The observer
/// itself may be freed.
public struct ResultsChanges<Element, SectionTitle>: AsyncSequence
where Element: PersistentModel, SectionTitle: Hashable {
  public typealias Failure = Never

  let live: LiveResults<Element, SectionTitle>

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(cursor: ResultsCursor(live)) }

  /// Waits for one change after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    public typealias Failure = Never

    let cursor: ResultsCursor<Element, SectionTitle>

    /// Returns the changes since the previous call, as soon as there are any; `nil` if the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> ResultsChange<Element, SectionTitle>? {
      await cursor.next(isolation: actor)
    }
  }
}
