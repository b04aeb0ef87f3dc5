/// The results that an observer shows at one moment: models in order, and their sections.
struct ShownResults<Element: PersistentModel, SectionTitle: Hashable> {
  typealias Tree = ResultTree<RankedResult>
  typealias Section = ResultsSection<Element, SectionTitle>

  private(set) var tree = Tree()
  private(set) var sections = SectionedResults<Element, SectionTitle>()
  /// Whether the models, their order or their sections differ from before the last ``beginChanges()``.
  private(set) var isChanged = false
  /// The sections that have changed and are not yet in their places.
  private var changedSections: [SectionTitle: Tree] = [:]

  init() {}

  /// - Parameters:
  ///   - results: The models in order.
  ///   - titles: Their sections' titles, if there are sections.
  /// - Complexity: O(*n*).
  init(_ results: [RankedResult], titles: ((Element) -> SectionTitle)?) {
    tree = Tree(results)
    guard let titles else { return }
    var positions: [SectionTitle: Int] = [:]
    var groups: [(title: SectionTitle, results: [RankedResult])] = []
    for result in results {
      let title = titles(result.model(as: Element.self))
      if let position = positions[title] {
        groups[position].results.append(result)
      } else {
        positions[title] = groups.count
        groups.append((title, [result]))
      }
    }
    sections = SectionedResults(groups.map { Section(title: $0.title, Tree($0.results)) })
  }

  mutating func beginChanges() { isChanged = false }

  /// Removes a model from its place.
  ///
  /// - Returns: Its former position.
  mutating func remove(
    _ slot: ResultOrder.Slot,
    titled title: SectionTitle?,
    in order: ResultOrder
  ) -> Int {
    let position = tree.rank(of: slot, in: order)
    tree.remove(at: position)
    if let title { change(title) { $0.remove(at: $0.rank(of: slot, in: order)) } }
    return position
  }

  /// Puts a model into its place.
  ///
  /// - Returns: The position of the model in the results.
  mutating func insert(
    _ result: RankedResult,
    titled title: SectionTitle?,
    in order: ResultOrder
  ) -> Int {
    let position = tree.rank(of: result.slot, in: order)
    tree.insert(result, at: position)
    if let title { change(title) { $0.insert(result, at: $0.rank(of: result.slot, in: order)) } }
    return position
  }

  mutating func markChanged() { isChanged = true }

  private mutating func change(_ title: SectionTitle, _ body: (inout Tree) -> Void) {
    var tree =
      changedSections[title] ?? sections[sectionTitle: title]?.results.tree ?? Tree()
    body(&tree)
    changedSections[title] = tree
  }

  /// Moves changed sections to their places.
  ///
  /// - Complexity: O(*s* log *s*) for *s* sections if one appeared, vanished or has another first model.
  mutating func endChanges(in order: ResultOrder) {
    if changedSections.isEmpty { return }
    defer { changedSections = [:] }
    if changedSections.allSatisfy({ keepsPlace($0.key, $0.value) }) {
      for (title, tree) in changedSections {
        guard let position = sections.index(ofSectionTitled: title) else { continue }
        sections.replace(position, with: Section(title: title, tree))
      }
      return
    }
    var all = sections.filter { changedSections[$0.title] == nil }
    for (title, tree) in changedSections where !tree.isEmpty {
      all.append(Section(title: title, tree))
    }
    all.sort { order.compare($0.results.tree[0].slot, $1.results.tree[0].slot) < 0 }
    sections = SectionedResults(all)
  }

  private func keepsPlace(_ title: SectionTitle, _ tree: Tree) -> Bool {
    guard let former = sections[sectionTitle: title]?.results.tree, !tree.isEmpty else {
      return false
    }
    return former[0].slot == tree[0].slot && former[0].id == tree[0].id
  }
}
