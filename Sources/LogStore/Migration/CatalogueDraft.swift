import LogEngine

/// A catalogue as it is to be, and the changes that make it so: one commit, once they are applied.
struct CatalogueDraft {
  private(set) var catalogue: Catalogue
  private(set) var changes: [CatalogueChange] = []

  init(_ catalogue: Catalogue) { self.catalogue = catalogue }

  mutating func make(_ change: CatalogueChange) throws(StorageError) {
    // Each opening notes what nearly always is there already.
    if case .setMetadata(let key, let value) = change, catalogue.metadata[key] == value { return }
    let before = catalogue
    try catalogue.apply(change)
    if catalogue != before { changes.append(change) }
  }
}
