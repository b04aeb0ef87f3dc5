/// The changes of an observer's results since a consumer last read them.
///
/// A list follows the results in three kinds of steps: it removes the elements that ``difference`` removes, inserts those
/// it inserts, and renders again those in ``updated``:
///
/// ```swift
/// for step in change.difference {
///   switch step {
///   case .remove(let offset, _, _): titles.remove(at: offset)
///   case .insert(let offset, let job, _): titles.insert(job.title, at: offset)
///   }
/// }
/// for (offset, job) in change.updated { titles[offset] = job.title }
/// ```
public struct ResultsChange<Element, SectionTitle>
where Element: PersistentModel, SectionTitle: Hashable {
  /// The models that match now, in order.
  public let results: FetchResultsCollection<Element>

  /// The models by section now, or `nil` for results without sections.
  public let sections: SectionedResults<Element, SectionTitle>?

  /// The models that were added and removed; moved models are both, and each half has the offset of the other.
  ///
  /// The former results with this difference applied are ``results``.
  public let difference: CollectionDifference<Element>

  /// The sections that were added, removed or moved, and the same for the members of each; empty without sections.
  public let sectionsDifference: SectionsDifference<Element, SectionTitle>

  /// The models that stayed although values of theirs may have changed, in order, with their offsets in ``results``.
  ///
  /// An attribute or a reference to one model counts when it was set, whatever the value, when a rollback or an undo restored
  /// it, and when another context saved it; and so does the first save, which gives the model its identifier.
  /// Changes of lists of models do not count, nor those of the models that are referred to. Models that ``difference``
  /// inserts are not repeated here.
  public let updated: [(offset: Int, element: Element)]

  /// The error of the last update of the results, or `nil`.
  ///
  /// After an error the results are the former ones.
  public let fetchError: (any Error)?
}

/// The changes of sections.
public struct SectionsDifference<Element, SectionTitle>
where Element: PersistentModel, SectionTitle: Hashable {
  /// The titles of the sections that were added and removed; a moved section is both.
  public let titles: CollectionDifference<SectionTitle>

  /// By title, the changes in the sections that exist before and after; sections without changes are not listed.
  public let members: [SectionTitle: CollectionDifference<Element>]

  /// Whether the sections and their members are unchanged.
  public var isEmpty: Bool { titles.isEmpty && members.isEmpty }
}

extension FetchResultsCollection where Element: PersistentModel {
  /// Returns the models added and removed on the way from other results to these; moved models are both.
  ///
  /// ```swift
  /// let shown = observer.results
  /// …
  /// let difference = observer.results.difference(from: shown)
  /// ```
  ///
  /// Models are compared by identity. Each half of a move has the offset of the other.
  ///
  /// - Parameter other: The former results, without duplicates.
  /// - Returns: The difference that turns the former results into these.
  /// - Complexity: O(*k* log *n*) for results of one observer that *k* models changed in between, unless a fetch was
  ///   necessary; else O(*n* log *n*).
  public func difference(
    from other: FetchResultsCollection<Element>
  ) -> CollectionDifference<Element> {
    tree.difference(from: other.tree).changes(from: other, to: self)
  }

  private var tree: ResultTree<RankedResult> {
    if let listed = source as? ListedResults<Element> { return listed.tree }
    return ResultTree(map { RankedResult($0, slot: 0) })
  }
}

extension SectionedResults {
  /// Returns the sections added, removed and moved on the way from other sections to these, and the same for their members.
  ///
  /// - Parameter other: The former sections.
  /// - Returns: The difference.
  /// - Complexity: That of ``FetchResultsCollection/difference(from:)`` for each section that changed, and O(*s*) for
  ///   *s* sections, or O(*s* log *s*) if one of them came, went or moved.
  public func difference(from other: SectionedResults) -> SectionsDifference<Element, SectionTitle>
  {
    var titles = KeyedDifference<SectionTitle>()
    var members: [SectionTitle: CollectionDifference<Element>] = [:]
    func compare(
      _ section: ResultsSection<Element, SectionTitle>,
      _ former: ResultsSection<Element, SectionTitle>
    ) {
      if section.results === former.results { return }
      let difference = section.results.tree.difference(from: former.results.tree)
      if difference.isEmpty { return }
      members[section.title] = difference.changes(from: former, to: section)
    }
    if hasSameTitles(as: other) {
      for (section, former) in zip(self, other) { compare(section, former) }
    } else {
      titles.add(other.sectionTitles, at: 0, sectionTitles, at: 0)
      for section in self {
        if let former = other[sectionTitle: section.title] { compare(section, former) }
      }
    }
    return SectionsDifference(
      titles: titles.changes(
        from: titles.isEmpty ? [] : other.sectionTitles,
        to: titles.isEmpty ? [] : sectionTitles
      ),
      members: members
    )
  }

  private func hasSameTitles(as other: SectionedResults) -> Bool {
    count == other.count
      && zip(self, other).allSatisfy { $0.results === $1.results || $0.title == $1.title }
  }
}
