/// Results divided into sections by a title that each model has.
///
/// Sections are in the order of their first models. Each title has one section, even if models with other
/// titles are between its own: for sections in the order of the results, sort by the title first.
public struct SectionedResults<Element, SectionTitle>: RandomAccessCollection, Equatable
where Element: PersistentModel, SectionTitle: Hashable {
  public typealias Index = Int

  private(set) var sections: [ResultsSection<Element, SectionTitle>] = []
  private var positions: [SectionTitle: Int] = [:]

  /// - Parameter sections: The sections in order, none of them empty, with distinct titles.
  init(_ sections: [ResultsSection<Element, SectionTitle>] = []) {
    self.sections = sections
    positions.reserveCapacity(sections.count)
    for (position, section) in sections.enumerated() { positions[section.title] = position }
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { sections.count }
  public subscript(position: Int) -> ResultsSection<Element, SectionTitle> { sections[position] }

  /// The section with a title, or `nil` if no model has it.
  ///
  /// - Complexity: O(1).
  public subscript(sectionTitle title: SectionTitle) -> ResultsSection<Element, SectionTitle>? {
    index(ofSectionTitled: title).map { sections[$0] }
  }

  /// Whether a model has a title.
  ///
  /// - Complexity: O(1).
  public func contains(sectionTitle title: SectionTitle) -> Bool { positions[title] != nil }

  /// The position of the section with a title, or `nil` if no model has it.
  ///
  /// - Complexity: O(1).
  public func index(ofSectionTitled title: SectionTitle) -> Int? { positions[title] }

  /// The titles in the order of the sections.
  public var sectionTitles: [SectionTitle] { sections.map(\.title) }

  public static func == (lhs: SectionedResults, rhs: SectionedResults) -> Bool {
    lhs.sections == rhs.sections
  }

  /// Replaces a section by another one with the same title.
  mutating func replace(_ position: Int, with section: ResultsSection<Element, SectionTitle>) {
    sections[position] = section
  }
}
