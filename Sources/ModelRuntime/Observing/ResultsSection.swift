/// The results that have one title, in the order of the fetch.
///
/// A section never changes after it was read, whatever its observer shows later. Two are
/// equal if they have the same title and the same models in the same order.
public struct ResultsSection<Element, SectionTitle>: Identifiable, RandomAccessCollection, Equatable
where Element: PersistentModel, SectionTitle: Hashable {
  public typealias Index = Int

  /// The common value of the section's models.
  public let title: SectionTitle
  let results: ListedResults<Element>

  init(title: SectionTitle, _ tree: ResultTree<RankedResult>) {
    self.title = title
    results = ListedResults(tree)
  }

  /// The title, which no other section of the same results has.
  public var id: SectionTitle { title }

  public var startIndex: Int { 0 }
  public var endIndex: Int { results.count }

  /// The model at a position.
  ///
  /// - Complexity: O(1) in a walk, else O(log *n*).
  public subscript(position: Int) -> Element { results.element(at: position) }

  public static func == (lhs: ResultsSection, rhs: ResultsSection) -> Bool {
    lhs.title == rhs.title && lhs.results.isEqual(to: rhs.results)
  }
}
