/// One page of the models that a fetch finds, with the tokens of the pages beside it.
public struct FetchPage<Model: PersistentModel> {
  /// The models of the page, in the order of the fetch; as many as the fetch's limit, if there are so many.
  public let models: [Model]
  /// Where the next page begins: for ``ModelContext/page(_:after:)``.
  ///
  /// `nil` on the last page. Of a page that was fetched with ``ModelContext/page(_:before:)`` there is one unless the
  /// page is empty.
  public let next: PageToken?
  /// Where the page before ends: for ``ModelContext/page(_:before:)``.
  ///
  /// `nil` on the first page. Of a page that was fetched behind a token there is one unless the page is empty; the page
  /// before it is empty if all models in front of it have been deleted.
  public let previous: PageToken?
}
