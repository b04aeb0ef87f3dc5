import Foundation
import RowFormat

extension LiveResults {
  /// Runs the fetch.
  ///
  /// - Complexity: That of the fetch, and O(*n*).
  func refetch() throws -> ShownResults<Element, SectionTitle> {
    let nextOrder = makeOrder()
    let nextWindow = nextOrder == nil ? nil : makeWindow()
    var descriptor = descriptor
    if let nextWindow {
      descriptor.fetchOffset = nil
      descriptor.fetchLimit = nextWindow.wantedCount
    }
    let models = try leavingOtherErrors { try context.fetch(descriptor) }
    isStale = false
    forgetChanges()
    // Only now: the former results keep the former order if the fetch throws.
    (order, window) = (nextOrder, nextWindow)
    var ranked = rank(models)
    if let nextWindow {
      ranked = Array(window?.begin(ranked) ?? nextWindow.shown(of: ranked))
    }
    var next = ShownResults(ranked, titles: title)
    if !isEqual(next) { next.markChanged() }
    return next
  }

  /// Uses the context, and leaves earlier errors for it to throw to its own callers.
  private func leavingOtherErrors<R>(_ body: () throws -> R) rethrows -> R {
    let deferred = context.deferredError
    context.deferredError = nil
    defer { context.deferredError = deferred ?? context.deferredError }
    return try body()
  }

  /// Takes the sort keys of fetched models, if the results can be ordered by them.
  private func rank(_ models: [Element]) -> [RankedResult] {
    slots = [:]
    titles = []
    guard order != nil else { return models.map { RankedResult($0, slot: 0) } }
    slots.reserveCapacity(models.count)
    var ranked: [RankedResult] = []
    ranked.reserveCapacity(models.count)
    for model in models {
      guard let slot = addKeys(of: model), isInOrder(ranked.last?.slot, slot) else {
        order = nil
        window = nil
        slots = [:]
        return models.map { RankedResult($0, slot: 0) }
      }
      slots[ObjectIdentifier(model)] = slot
      ranked.append(RankedResult(model, slot: slot))
    }
    return ranked
  }

  /// Whether the store's order agrees with the keys: another kind of store may order
  /// equal keys differently.
  private func isInOrder(
    _ former: ResultOrder.Slot?,
    _ slot: ResultOrder.Slot
  ) -> Bool {
    guard let former, let order else { return true }
    return order.compare(former, slot) < 0
  }

  /// Takes the current sort keys of a model; `nil` if results have no order to be kept in.
  private func addKeys(of model: Element) -> ResultOrder.Slot? {
    guard let slot = order?.add(model, tie: tie(of: model)) else {
      return nil
    }
    if let title {
      if Int(slot) == titles.count {
        titles.append(title(model))
      } else {
        titles[Int(slot)] = title(model)
      }
    }
    return slot
  }

  /// The place of a model among equals: rows in the store's order, then unsaved models.
  private func tie(of model: Element) -> UInt64 {
    if let row = model.row { return row.rawValue }
    return 1 << 63 | (context.observers?.insertion(of: model) ?? 0)
  }

  private func isEqual(_ next: ShownResults<Element, SectionTitle>) -> Bool {
    guard shown.tree.holdsSame(as: next.tree) else { return false }
    return title == nil || shown.sections == next.sections
  }

  // MARK: One by one

  /// Moves the changed models to their places.
  ///
  /// - Returns: `nil` if the fetch has to run again.
  /// - Complexity: O(*k* log *n*) for *k* models, with one request for the rows that are not in memory.
  func update() throws -> ShownResults<Element, SectionTitle>? {
    let models = changedModels
    forgetChanges()
    try leavingOtherErrors {
      guard let connection = context.coordinator.connection(for: reading.subject) else { return }
      context.loadRows(of: models.map { $0._$state }, from: connection)
      try context.throwDeferredError()
    }
    var next = shown
    next.beginChanges()
    for model in models {
      guard try place(model, in: &next) else { return becomingStale() }
    }
    if let order { next.endChanges(in: order) }
    if window == nil { return next }
    for result in window?.trim() ?? [] { forget(result) }
    if window?.needsMore == true { return becomingStale() }
    if !next.tree.difference(from: shown.tree).isEmpty || next.sections != shown.sections {
      next.markChanged()
    }
    return next
  }

  private func becomingStale() -> ShownResults<Element, SectionTitle>? {
    isStale = true
    return nil
  }

  /// Moves a model to its current place, or removes it.
  ///
  /// - Returns: `false` if the model has no definite place.
  private func place(
    _ model: Element,
    in next: inout ShownResults<Element, SectionTitle>
  ) throws -> Bool {
    if hidesReference(model._$state) { return false }
    let id = ObjectIdentifier(model)
    let former = slots[id]
    guard try isWanted(model) else {
      if let former {
        takeOut(former, from: &next)
        slots[id] = nil
        order?.remove(former)
      }
      return true
    }
    guard let slot = addKeys(of: model) else { return false }
    if let former, isSamePlace(former, slot) {
      order?.remove(slot)
      return true
    }
    slots[id] = slot
    let result = RankedResult(model, slot: slot)
    if !move(result, from: former, in: &next) { forget(result) }
    if let former { order?.remove(former) }
    return true
  }

  /// Whether an end that the fetch reads leads, in the store, to a model that is deleted here, as after another context
  /// has related the two.
  ///
  /// The object shows it as nil, but a fetch decides about unchanged models by their rows.
  private func hidesReference(_ state: _ModelState) -> Bool {
    guard !context.deletedModels.isEmpty, let connection = state.connection else { return false }
    return state.descriptor.relationships.contains { property in
      guard !property.isToMany, !state.changed.contains(property.ordinal),
        reading.isAffected(by: property.ordinal, of: state.descriptor),
        let reference = state.storedReference(property)
      else { return false }
      return context.maps[connection.index][reference]?.isDeleted == true
    }
  }

  // The comparing closure holds a copy of the order, and has returned when keys are released: otherwise the list of free keys
  // would be copied for each model.

  private func isSamePlace(_ former: ResultOrder.Slot, _ slot: ResultOrder.Slot) -> Bool {
    order?.compare(former, slot) == 0 && hasSameTitle(former, slot)
  }

  /// Removes a model from its former place, and inserts it by its current keys.
  ///
  /// - Returns: `false` if the new place is after all known results.
  private func move(
    _ result: RankedResult,
    from former: ResultOrder.Slot?,
    in next: inout ShownResults<Element, SectionTitle>
  ) -> Bool {
    guard let order else { return false }
    let slot = result.slot
    if window == nil {
      let origin = former.map { next.remove($0, titled: titles(at: $0), in: order) }
      let target = next.insert(result, titled: titles(at: slot), in: order)
      if origin != target || !hasSameTitle(former, slot) { next.markChanged() }
    } else {
      if let former { shift(window?.remove(former, in: order), in: &next, order) }
      if window?.isBeyond(slot, in: order) == true { return false }
      shift(window?.insert(result, in: order), in: &next, order)
    }
    return true
  }

  /// Replaces the results that leave the window by those that enter it.
  private func shift(
    _ shift: ResultWindow.Shift?,
    in next: inout ShownResults<Element, SectionTitle>,
    _ order: ResultOrder
  ) {
    if let result = shift?.leaves {
      _ = next.remove(result.slot, titled: titles(at: result.slot), in: order)
    }
    if let result = shift?.enters {
      _ = next.insert(result, titled: titles(at: result.slot), in: order)
    }
  }

  /// Releases the keys of a match that is no longer known.
  private func forget(_ result: RankedResult) {
    slots[result.id] = nil
    order?.remove(result.slot)
  }

  private func takeOut(
    _ slot: ResultOrder.Slot,
    from next: inout ShownResults<Element, SectionTitle>
  ) {
    guard let order else { return }
    if window == nil {
      _ = next.remove(slot, titled: titles(at: slot), in: order)
      next.markChanged()
    } else {
      shift(window?.remove(slot, in: order), in: &next, order)
    }
  }

  private func titles(at slot: ResultOrder.Slot) -> SectionTitle? {
    title == nil ? nil : titles[Int(slot)]
  }

  private func hasSameTitle(
    _ former: ResultOrder.Slot?,
    _ slot: ResultOrder.Slot
  ) -> Bool { former.map { titles(at: $0) == titles(at: slot) } ?? false }

  /// Whether the fetch would return a model.
  func isWanted(_ model: Element) throws -> Bool {
    let state = model._$state
    guard state.context === context, !state.isDeleted, !state.flags.contains(.vanished) else {
      return false
    }
    return try filter?.matches(model) ?? true
  }
}
