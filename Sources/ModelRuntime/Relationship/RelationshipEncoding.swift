import RowFormat

extension _ModelState {
  /// Writes the columns of one relationship into the row being encoded.
  ///
  /// A list that can be found from its other end is not written for a store that derives it: each
  /// member's row has its owner and its rank, and that is all.
  func encodeRelationship(_ ordinal: Int, into encoder: inout _RowEncoder) {
    let descriptor = self.descriptor
    let property = descriptor.properties[ordinal]
    if property.isToMany {
      if property.isDerivable && encoder.references.derivesLists { return }
      guard case .many(let list) = relation(property) else {
        return keepList(ordinal, in: &encoder)
      }
      // A column written along with others keeps the row's value, whatever is known of it here; and of a long list, copying
      // it takes less than asking its members.
      if encoder.references.derivesLists, flags.contains(.stored), !changed.contains(ordinal) {
        return keepList(ordinal, in: &encoder)
      }
      if encoder.references.derivesLists, correctsRow(list, property) {
        return writeRow(correctedBy: list, ordinal, in: &encoder)
      }
      var references: [RowReference] = []
      if !list.isLoaded, !property.isDerivable {
        references = storedReferences(correctedBy: list, ordinal, in: &encoder)
      } else {
        // Loaded before the first row was written: the row being copied must stay as it is.
        let models = list.models
        references.reserveCapacity(models.count)
        for model in models where !model._$state.isKnownGone {
          if let reference = resolve(model, in: &encoder) { references.append(reference) }
        }
      }
      encoder.writer.append(ordinal, references: references)
      return
    }
    guard case .one(let destination) = relation(property) else {
      return keepReference(ordinal, rankColumn: descriptor.rankColumn(of: property), in: &encoder)
    }
    guard let destination else { return }
    // A deleted model reads as nil, and is stored so; with an inverse, its delete rule decides.
    if property.inverse == nil, destination._$state.isKnownGone { return }
    if destination._$state.isUnsavedAndDeleted, property.inverse?.deleteRule == .noAction { return }
    guard let reference = resolve(destination, in: &encoder) else { return }
    encoder.writer.set(ordinal, reference: reference)
    guard let column = descriptor.rankColumn(of: property) else { return }
    if let rank = pendingRanks[ordinal] {
      encoder.writer.set(column, integer: rank)
    } else if flags.contains(.stored), encoder.refersAlready(to: reference, ordinal) {
      // Set to its old value: the place in the list stays.
      encoder.keep(column)
    } else if flags.contains(.inserted) || changed.contains(ordinal) {
      encoder.writer.set(column, integer: encoder.references.nextRank())
    } else {
      encoder.keep(column)
    }
  }

  /// Copies an untouched to-one relationship from the previous row, with its rank.
  private func keepReference(_ ordinal: Int, rankColumn: Int?, in encoder: inout _RowEncoder) {
    let row = encoder.previous
    guard hasRelationships(of: row), !row.isNull(ordinal) else { return }
    let reference = row.layout.reference(ordinal, in: row.span)
    guard let name = encoder.references.name(of: reference, in: connection) else { return }
    encoder.writer.set(ordinal, reference: name)
    if let rankColumn { encoder.keep(rankColumn) }
  }

  /// Whether a list that is stored with its owner is written from the row, without members that left and with those added,
  /// so that its members need not be read.
  ///
  /// Not for a list with its own order, or one that does not know which of its members were deleted.
  func correctsRow(_ list: RelatedModels, _ property: ModelProperty) -> Bool {
    flags.contains(.stored) && !property.isDerivable && property.inverse != nil && !list.isReordered
  }

  /// Writes a list from the previous row, without members that left and with those added.
  private func writeRow(
    correctedBy list: RelatedModels,
    _ ordinal: Int,
    in encoder: inout _RowEncoder
  ) {
    let row = encoder.previous
    let came = list.added.elements.filter { !$0._$state.isKnownGone }
    guard let own = connection, hasRelationships(of: row), !row.isNull(ordinal) else {
      let references = came.compactMap { resolve($0, in: &encoder) }
      return encoder.writer.append(ordinal, references: references)
    }
    func names(_ models: [any PersistentModel]) -> [RowReference] {
      models.lazy.map { $0._$state }.filter { $0.isStored(in: own) }.map(\.reference)
    }
    // A member that left and came back is in its last place; one that others have added too is in theirs.
    let returned = came.filter { list.returned.contains(ObjectIdentifier($0)) }
    let layout = row.layout
    let gone = layout.offsets(
      of: names(list.removed.elements + returned),
      inList: ordinal,
      of: row.span
    )
    var known = Set(
      layout.offsets(of: names(came), inList: ordinal, of: row.span).map {
        layout.reference(at: $0, in: row.span)
      }
    )
    for offset in gone { known.remove(layout.reference(at: offset, in: row.span)) }
    let new = came.compactMap { resolve($0, in: &encoder) }.filter { !known.contains($0) }
    encoder.writer.append(
      ordinal,
      referencesOf: row.span,
      layout: layout,
      withoutThoseAt: gone,
      followedBy: new
    )
  }

  /// The references of a list that is not in memory, without members that left and with those added.
  private func storedReferences(
    correctedBy list: RelatedModels,
    _ ordinal: Int,
    in encoder: inout _RowEncoder
  ) -> [RowReference] {
    var references: [RowReference] = []
    let row = encoder.previous
    var came = list.added.elements.filter { !$0._$state.isKnownGone }
    if hasRelationships(of: row), !row.isNull(ordinal) {
      let own = connection
      func names(_ models: [any PersistentModel]) -> Set<RowReference> {
        guard let own else { return [] }
        return Set(
          models.lazy.map { $0._$state }.filter { $0.isStored(in: own) }.map(\.reference)
        )
      }
      // A member that left and came back is in its last place.
      let returned = came.filter { list.returned.contains(ObjectIdentifier($0)) }
      let gone = names(list.removed.elements + returned)
      let stored = row.layout.references(ordinal, in: row.span).filter { !gone.contains($0) }
      references = stored.compactMap { encoder.references.name(of: $0, in: own) }
      // Members that others have added too are in their place.
      let present = names(came).intersection(stored)
      if !present.isEmpty { came.removeAll { present.contains($0._$state.reference) } }
    }
    for model in came {
      if let reference = resolve(model, in: &encoder) { references.append(reference) }
    }
    return references
  }

  /// Copies an untouched list from the previous row.
  private func keepList(_ ordinal: Int, in encoder: inout _RowEncoder) {
    let row = encoder.previous
    guard hasRelationships(of: row), !row.isNull(ordinal) else { return }
    if encoder.references.keepsNames { return encoder.keep(ordinal) }
    let references = row.layout.references(ordinal, in: row.span)
    encoder.writer.append(
      ordinal,
      references: references.compactMap { encoder.references.name(of: $0, in: connection) }
    )
  }

  /// Whether the relationships in the previous row are the object's.
  ///
  /// An object that was deleted and is inserted again has its attributes from its former row, and only those relationships
  /// that were set since.
  private func hasRelationships(of row: _RowView) -> Bool {
    !row.isAbsent && flags.contains(.stored)
  }

  private func resolve(
    _ model: any PersistentModel,
    in encoder: inout _RowEncoder
  ) -> RowReference? {
    do {
      return try encoder.references.reference(to: model._$state)
    } catch {
      encoder.failure = encoder.failure ?? error
      return nil
    }
  }
}

extension _RowEncoder {
  /// Whether the previous row already refers to a row.
  fileprivate func refersAlready(to reference: RowReference, _ ordinal: Int) -> Bool {
    !previous.isAbsent && !previous.isNull(ordinal)
      && previous.layout.reference(ordinal, in: previous.span) == reference
  }
}
