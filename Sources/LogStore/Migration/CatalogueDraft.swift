import LogEngine

/// A catalogue as it is to be, and the changes that make it so: one commit, once they are applied.
struct CatalogueDraft {
  private(set) var catalogue: Catalogue
  private(set) var changes: [CatalogueChange] = []

  init(_ catalogue: Catalogue) { self.catalogue = catalogue }

  mutating func make(_ change: CatalogueChange) throws(StorageError) {
    let before = catalogue
    try catalogue.apply(change)
    if catalogue != before { changes.append(change) }
  }
}
