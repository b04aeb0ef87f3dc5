/// A consumer's position among the changes of an observer's results.
///
/// ```swift
/// let cursor = observer.makeCursor()
/// …
/// if let change = cursor.advance() { … }  // Since the call before; the first time, since there was nothing.
/// ```
///
/// Each consumer has its own cursor. However long it waits between two reads, it gets a single change.
/// Like the observer it belongs to the context's owner, and keeps the context.
public final class ResultsCursor<Element, SectionTitle>
where Element: PersistentModel, SectionTitle: Hashable {
  let live: LiveResults<Element, SectionTitle>
  private let updated: UpdatedModels<Element>
  private var shown = ShownResults<Element, SectionTitle>()
  private var hasBegun = false
  private var hadFailed = false

  init(_ live: LiveResults<Element, SectionTitle>) {
    self.live = live
    updated = live.updateLists.makeList()
  }

  /// Advances to the current results.
  ///
  /// The first change leads from nothing to the results, even if there are none. Later there is one if models were added,
  /// removed, moved or updated, if a fetch has failed for the first time after one that did not, and if one has
  /// succeeded again.
  ///
  /// - Returns: The changes since the last call; `nil` if there are none.
  /// - Complexity: O(*k* log *n*) for *k* changed models, or O(*n* log *n*) after another fetch; see
  ///   ``ResultsObserver``. With *s* sections O(*s*) more.
  public func advance() -> ResultsChange<Element, SectionTitle>? {
    let next = live.seen
    let former = shown
    let difference = next.tree.difference(from: former.tree)
    let updates = live.places(of: updated.byID, without: difference.insertions)
    let error = live.error
    let isNews =
      !hasBegun || !difference.isEmpty || !updates.isEmpty || (error != nil) != hadFailed
      || live.hasSections && !next.tree.isSame(as: former.tree) && next.sections != former.sections
    shown = next
    updated.removeAll()
    hasBegun = true
    hadFailed = error != nil
    guard isNews else { return nil }
    let results = FetchResultsCollection(ListedResults<Element>(next.tree))
    let old = FetchResultsCollection(ListedResults<Element>(former.tree))
    return ResultsChange(
      results: results,
      sections: live.hasSections ? next.sections : nil,
      difference: difference.changes(from: old, to: results),
      sectionsDifference: next.sections.difference(from: former.sections),
      updated: updates,
      fetchError: error
    )
  }

  /// Waits for a change.
  ///
  /// - Returns: The change; `nil` if the task is cancelled.
  func next(isolation: isolated (any Actor)?) async -> ResultsChange<Element, SectionTitle>? {
    while !Task.isCancelled {
      let round = live.signal.round
      if let change = advance() { return change }
      live.awaitChange()
      await live.signal.wait(past: round, isolation: isolation)
    }
    return nil
  }
}
