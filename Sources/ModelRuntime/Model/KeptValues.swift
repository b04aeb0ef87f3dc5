import RowFormat

// Values that are needed after their row is gone.

extension _ModelState {
  /// Reads the values that are in side files, which are deleted with the row.
  func keepValuesOfSideFiles() {
    // The app's code, which decodes a value, may make the object be read again, with another row.
    let row = currentRow
    let arena = self.arena
    defer { withExtendedLifetime(arena) {} }
    for column in descriptor.layout.blobColumns where row.blob(column) != nil {
      keepValue(of: descriptor.properties[column])
    }
  }

  /// Reads every attribute whose value would come from the row, if the object has one.
  func keepValues() {
    if unsafe row == nil { return }
    for property in descriptor.properties where !property.isRelationship { keepValue(of: property) }
  }

  /// Loads the value of an attribute into its slot.
  ///
  /// A value that cannot be read is lost with the row. Nobody has requested it, so no save throws its error.
  private func keepValue(of property: ModelProperty) {
    guard let model else { return }
    let error = context?.deferredError
    _ = (property.keyPath as? any PropertySetting)?.value(of: model)
    context?.deferredError = error
  }
}
