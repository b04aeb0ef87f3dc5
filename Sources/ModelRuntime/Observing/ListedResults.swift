/// The models an observer shows at one moment.
final class ListedResults<Model: PersistentModel>: FetchResultsSource<Model> {
  let tree: ResultTree<RankedResult>
  /// The results around the one that was accessed last.
  private var recent: [RankedResult] = []
  private var start = 0

  init(_ tree: ResultTree<RankedResult>) {
    self.tree = tree
    super.init(count: tree.count)
  }

  override func element(at position: Int) -> Model {
    if !(start..<start + recent.count).contains(position) {
      (start, recent) = tree.neighbours(of: position)
    }
    return recent[position - start].model(as: Model.self)
  }

  /// Whether both show the same models in the same order.
  ///
  /// - Complexity: O(1) for two views of one moment, else O(*n*).
  func isEqual(to other: ListedResults) -> Bool {
    self === other || tree.holdsSame(as: other.tree)
  }
}
