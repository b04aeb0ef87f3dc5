/// The changes of an observer's results, as a sequence that ends when its task is cancelled.
///
/// ```swift
/// for await change in observer.changes { list.apply(change.difference) }
/// ```
///
/// The first change comes at once, and leads from nothing to what is shown. Each later one covers everything since the
/// one before: a consumer that is slow gets fewer changes, and none waits in a queue. Changes that take each other back
/// in the meantime are none. Each iterator is a consumer of its own.
///
/// The sequence never throws. Where a fetch fails a change says so by ``ResultsChange/fetchError``; the fetch is tried
/// again when something changes next.
///
/// It belongs to whom the observer belongs to: iterate in that actor, or in the task that owns the context. A task that
/// iterates keeps the observed results and their context; cancel it when they are not needed any more. The observer
/// itself may go.
public struct ResultsChanges<Element, SectionTitle>: AsyncSequence
where Element: PersistentModel, SectionTitle: Hashable {
  public typealias Failure = Never

  let live: LiveResults<Element, SectionTitle>

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(cursor: ResultsCursor(live)) }

  /// Waits for one change after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    public typealias Failure = Never

    let cursor: ResultsCursor<Element, SectionTitle>

    /// The changes since the call before, when there are any; `nil` if the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> ResultsChange<Element, SectionTitle>? {
      await cursor.next(isolation: actor)
    }
  }
}
