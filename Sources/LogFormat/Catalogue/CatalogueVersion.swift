/// A catalogue as of a commit, passed from the batch to the readers.
///
/// It becomes visible with the commit and not after it: a reader never finds rows of a layout that it does not know.
package struct CatalogueVersion: Sendable {
  package let catalogue: Catalogue
  /// The tables that the commit removed.
  package let removedTables: [UInt16]

  /// Applies steps to a catalogue.
  package init(_ changes: [CatalogueChange], of catalogue: Catalogue) throws(StorageError) {
    var changed = catalogue
    for change in changes { try changed.apply(change) }
    self.catalogue = changed
    removedTables = changes.compactMap { change in
      if case .removeTable(let number) = change { number } else { nil }
    }
  }
}
