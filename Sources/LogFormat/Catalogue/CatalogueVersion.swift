/// A catalogue as a commit leaves it, on its way from the batch to the readers.
///
/// It becomes visible with the commit and not after it: a reader never meets rows of a layout it does
/// not know.
package struct CatalogueVersion: Sendable {
  package let catalogue: Catalogue
  /// The tables the commit removed.
  package let removedTables: [UInt16]

  /// Takes some steps from a catalogue.
  package init(_ changes: [CatalogueChange], of catalogue: Catalogue) throws(StorageError) {
    var changed = catalogue
    for change in changes { try changed.apply(change) }
    self.catalogue = changed
    removedTables = changes.compactMap { change in
      if case .removeTable(let number) = change { number } else { nil }
    }
  }
}
