/// The sections of a results observer.
@available(*, deprecated, renamed: "SectionedResults")
public typealias ResultsSectionCollection = SectionedResults

extension SectionedResults {
  /// The section of a title.
  @available(*, deprecated, renamed: "subscript(sectionTitle:)")
  public subscript(sectionName name: SectionTitle) -> ResultsSection<Element, SectionTitle>? {
    self[sectionTitle: name]
  }
}

extension ResultsSection {
  /// The title of the section.
  @available(*, deprecated, renamed: "title")
  public var name: SectionTitle { title }
}
