import RowFormat

// Values that are needed after the row is gone from which they would be read.

extension _ModelState {
  /// Reads the values that are in side files, which are deleted with the row.
  func keepValuesOfSideFiles() {
    // The app's code, which decodes a value, may have the object read again: its row is another one then.
    let row = currentRow
    let arena = self.arena
    defer { withExtendedLifetime(arena) {} }
    for column in descriptor.layout.blobColumns where row.blob(column) != nil {
      keepValue(of: descriptor.properties[column])
    }
  }

  /// Reads every attribute that would come from the row, if the object has one.
  func keepValues() {
    if unsafe row == nil { return }
    for property in descriptor.properties where !property.isRelationship { keepValue(of: property) }
  }

  /// Has the value of an attribute in its slot.
  ///
  /// One that cannot be read is lost with the row. Nobody has asked for it, so no save throws what was wrong with it.
  private func keepValue(of property: ModelProperty) {
    guard let model else { return }
    let error = context?.deferredError
    _ = (property.keyPath as? any PropertySetting)?.value(of: model)
    context?.deferredError = error
  }
}
