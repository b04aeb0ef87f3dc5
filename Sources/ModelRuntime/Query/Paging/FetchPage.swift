/// One page of a fetch's models, with the tokens of the adjacent pages.
public struct FetchPage<Model: PersistentModel> {
  /// The models of the page, in the order of the fetch; as many as the fetch's limit, if there are so many.
  public let models: [Model]
  /// The token of the next page, for ``ModelContext/page(_:after:)``.
  ///
  /// `nil` on the last page. A page that was fetched with ``ModelContext/page(_:before:)`` has one unless it
  /// is empty.
  public let next: PageToken?
  /// The token of the previous page, for ``ModelContext/page(_:before:)``.
  ///
  /// `nil` on the first page. A page that was fetched after a token has one unless it is empty; the previous page
  /// is empty if all models before this one have been deleted.
  public let previous: PageToken?
}
