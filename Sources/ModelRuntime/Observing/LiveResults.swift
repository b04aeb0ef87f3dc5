import Foundation
import RowFormat

/// The results of a fetch, kept up to date.
///
/// Changes are recorded, and applied when the results are read or awaited: a thousand
/// changes between two reads are one update. If a model's result depends on its own values alone, each
/// changed model is tested and put into its place, at O(log *n*). Otherwise the fetch runs again.
///
/// Invariant: while there is an `order`, `slots` has the keys that determine the place of each shown model.
final class LiveResults<Element: PersistentModel, SectionTitle: Hashable>: ContextObserver {
  let context: ModelContext
  let signal = ResultsSignal()
  let title: ((Element) -> SectionTitle)?
  private let titleKeyPath: PartialKeyPath<Element>?
  private let bell: SaveBell.Key?

  private(set) var descriptor: FetchDescriptor<Element>
  /// The error of the last update; the results then stay as they were.
  private(set) var error: (any Error)?
  private(set) var reading: FetchReading
  private(set) var filter: ObjectFilter<Element>?
  var shown = ShownResults<Element, SectionTitle>()

  /// The order of the results; `nil` if the fetch has to run again for each change.
  var order: ResultOrder?
  var slots: [ObjectIdentifier: ResultOrder.Slot] = [:]
  /// The known matches around the results, if there are a limit or an offset and an order; `slots` has all of them.
  var window: ResultWindow?
  /// By slot.
  var titles: [SectionTitle] = []

  /// The models that may have been added, removed or moved, in the order of their recording.
  var changedModels: [Element] = []
  private var changedIDs: Set<ObjectIdentifier> = []
  /// Whether the fetch has to run again.
  var isStale = true
  private var isSettling = false
  /// Whether an observer may be waiting for a notification; it reads again to wait for the next one.
  private var isAwaited = false
  /// The updated models that each cursor has not yet seen.
  var updateLists = UpdateLists<Element>()
  /// The models that are shown, while there is no order; created when a cursor needs them.
  private var shownIDs: Set<ObjectIdentifier>?
  /// Whether a cursor may be waiting, for which updates count, too.
  private var isFollowed = false

  /// Runs the fetch, and begins to follow the context.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - title: The title of a model's section, and the key path it is read by; without sections, `nil`.
  ///   - context: The context.
  ///   - isolation: The actor that owns the context, which is called when another context saves.
  /// - Throws: An error of fetching.
  init(
    _ descriptor: FetchDescriptor<Element>,
    sectionedBy title: (read: (Element) -> SectionTitle, keyPath: PartialKeyPath<Element>)?,
    in context: ModelContext,
    isolation: (any Actor)?
  ) throws {
    self.descriptor = descriptor
    self.context = context
    self.title = title?.read
    titleKeyPath = title?.keyPath
    reading = FetchReading(of: Element.self)
    bell = context.autosave.isMain ? nil : context.saveBell.makeKey()
    super.init()
    plan()
    // The models' setters must report before the first one is read, and saves of others count from now on.
    context.addObserver(self)
    if let bell { context.saveBell.set(bell, makeAlarm(isolation)) }
    shown = try context.readingOneState { _ in try refetch() }
  }

  deinit {
    if let bell { context.saveBell.remove(bell) }
    context.removeObserver(ObjectIdentifier(self))
  }

  private func makeAlarm(_ isolation: (any Actor)?) -> SaveBell.Alarm {
    // Without an actor to call, the saving thread notifies the observer, which reads the results when it has time.
    guard let isolation else {
      return SaveBell.Alarm(isDirect: true) { [signal] in signal.contentsChange() }
    }
    let owner = ContextOwnerReference(context, isolation)
    return SaveBell.Alarm(isDirect: false) { owner.mergeSavedChanges() }
  }

  // MARK: Reading

  /// The current results, tracked.
  var current: ShownResults<Element, SectionTitle> {
    let shown = seen
    // Only now: an observer notified meanwhile has read before.
    if _mayBeTracking { isAwaited = true }
    signal.trackContents()
    return shown
  }

  /// The current results, for code that does not track them.
  var seen: ShownResults<Element, SectionTitle> {
    if context.observers?.isTelling != true {
      context.mergeSavedChanges()
      settle()
    }
    return shown
  }

  /// Makes the next change wake the waiting tasks.
  func awaitChange() {
    isAwaited = true
    isFollowed = true
  }

  var hasSections: Bool { title != nil }

  /// Replaces the fetch.
  func setDescriptor(_ descriptor: FetchDescriptor<Element>) {
    self.descriptor = descriptor
    plan()
    signal.queryChanges()
    tell()
  }

  /// The position of a model among the results.
  ///
  /// - Complexity: O(log *n*), or O(*n*) if the fetch runs again for each change.
  func position(of model: Element) -> Int? {
    let shown = current
    guard let order else {
      return shown.tree.enumerated().first { $0.element.id == ObjectIdentifier(model) }?.offset
    }
    return slots[ObjectIdentifier(model)].flatMap { shown.tree.position(of: model, $0, in: order) }
  }

  /// The section of a model, and its position there.
  func place(of model: Element) -> (section: Int, item: Int)? {
    let sections = current.sections
    guard let order else {
      for (number, section) in sections.enumerated() {
        if let item = section.firstIndex(where: { $0 === model }) { return (number, item) }
      }
      return nil
    }
    guard let slot = slots[ObjectIdentifier(model)],
      let section = sections.index(ofSectionTitled: titles[Int(slot)]),
      let item = sections[section].results.tree.position(of: model, slot, in: order)
    else { return nil }
    return (section, item)
  }

  /// The models among the results that were updated, in order.
  ///
  /// - Parameters:
  ///   - models: The models that were updated.
  ///   - insertions: The models to leave out.
  /// - Returns: The models, with their positions.
  /// - Complexity: O(log *n*) for each model, or O(*n*) if the fetch runs again for each change.
  func places(
    of models: [ObjectIdentifier: Element],
    without insertions: [(offset: Int, id: ObjectIdentifier)]
  ) -> [(offset: Int, element: Element)] {
    if models.isEmpty { return [] }
    var models = models
    for (_, id) in insertions { models[id] = nil }
    // After an error the keys may be newer than the results.
    guard let order, error == nil else {
      return shown.tree.enumerated().compactMap { offset, result in
        models[result.id].map { (offset, $0) }
      }
    }
    return models.compactMap { id, model in
      slots[id].flatMap { shown.tree.position(of: model, $0, in: order) }.map { ($0, model) }
    }.sorted { $0.offset < $1.offset }
  }

  // MARK: Planning

  private func plan() {
    reading = FetchReading(of: Element.self)
    if let predicate = descriptor.predicate { reading.add(predicate) }
    filter = descriptor.predicate.map { ObjectFilter($0) }
    reading.add(descriptor.sortBy)
    if title != nil { reading.add(property: titleKeyPath) }
    isStale = true
  }

  /// The order to keep the results by, if models can be put into their places one by one.
  func makeOrder() -> ResultOrder? {
    guard reading.isLocal, descriptor.includePendingChanges, !isCut || makeWindow() != nil,
      !isOfSeveralStores,
      context.coordinator.connection(for: reading.subject)?.store.ordersRowsByReference == true
    else { return nil }
    return ResultOrder(descriptor.sortBy)
  }

  /// Whether several stores keep the models: a save may give new ones other places.
  private var isOfSeveralStores: Bool {
    context.coordinator.severalConnections(for: reading.subject) != nil
  }

  /// Whether some matches are not shown.
  private var isCut: Bool {
    descriptor.fetchLimit ?? 0 > 0 || descriptor.fetchOffset ?? 0 > 0
  }

  /// The window to keep the results in, if there are a limit or an offset.
  func makeWindow() -> ResultWindow? {
    guard isCut else { return nil }
    let limit = descriptor.fetchLimit.flatMap { $0 > 0 ? $0 : nil }
    return ResultWindow(offset: max(descriptor.fetchOffset ?? 0, 0), limit: limit)
  }

  // MARK: Noting

  override func propertyChanges(
    _ property: Int,
    of model: any PersistentModel,
    _ descriptor: ModelDescriptor
  ) {
    if !updateLists.isEmpty, !descriptor.properties[property].isToMany { recordUpdate(of: model) }
    guard self.descriptor.includePendingChanges else { return }
    if reading.isAffected(by: property, of: descriptor), recordChange(model, descriptor) { tell() }
    if reading.areOthersAffected(by: property, of: descriptor) { becomeStale() }
  }

  override func unsavedChangesBeginOrEnd(
    of model: any PersistentModel,
    _ descriptor: ModelDescriptor
  ) {
    guard self.descriptor.includePendingChanges, reading.readsOthers else { return }
    // Whatever the change is: the store decides about an unchanged model by its stored data of other models. A changed model
    // is tested as an object, and so by the unsaved changes of the others, too.
    if recordChange(model, descriptor), !reading.isLocal { tell() }
  }

  override func cameOrWent(_ model: any PersistentModel, _ descriptor: ModelDescriptor) {
    guard self.descriptor.includePendingChanges else {
      // It is still shown, and no longer refers to anything.
      recordUpdate(of: model)
      return
    }
    if recordChange(model, descriptor), isAwaited, concerns(model) { tell() }
    if reading.readsOthers(of: descriptor) { becomeStale() }
  }

  override func refreshed(_ model: any PersistentModel, _ descriptor: ModelDescriptor) {
    recordUpdate(of: model)
    recordChange(model, descriptor)
    if reading.areOthersAffected(byAnyOf: descriptor) { isStale = true }
  }

  override func saved(_ changes: ChangeSet) {
    if !descriptor.includePendingChanges || isOfSeveralStores { isStale = true }
    // Inserted models have a new identifier.
    for model in changes.inserted { recordUpdate(of: model) }
    if !reading.readsOthers { return }
    // The store decides by the stored data of other models, not by their unsaved changes.
    for model in [changes.updated, changes.deleted].joined() {
      let descriptor = model._$state.descriptor
      recordChange(model, descriptor)
      if reading.areOthersAffected(byAnyOf: descriptor) { isStale = true }
    }
  }

  override func mayHaveChangedElsewhere() {
    // A store that reports the changes of others has already done so.
    for connection in context.coordinator.connections(for: reading.subject)
    where !connection.allowsSave && !(connection.store.openStore is any RemoteRowReporting) {
      isStale = true
    }
  }

  override func wantedRows(of save: SavedRows, from connection: StoreConnection) -> [RowReference] {
    if isStale || order == nil || hasOthers(save, connection) { return [] }
    let rows = (save.inserted + save.updated).filter { isOwn($0, connection) }
    return areTooMany(rows) ? [] : rows
  }

  /// Whether so many rows were saved that fetching all is less work, and takes less memory, than testing each.
  private func areTooMany(_ rows: [RowReference]) -> Bool {
    rows.count + changedModels.count > max(shown.tree.count, 256)
  }

  override func merged(_ save: SavedRows, from connection: StoreConnection) {
    if !save.isComplete {
      isStale = true
      for result in shown.tree { recordUpdate(of: result.model(as: Element.self)) }
      return
    }
    if !updateLists.isEmpty {
      for reference in save.updated where isOwn(reference, connection) {
        // Shown models are registered.
        if let model = context.maps[connection.index][reference]?.model { recordUpdate(of: model) }
      }
    }
    if isStale { return }
    let written = save.inserted + save.updated
    var own = written.filter { isOwn($0, connection) }
    isStale = hasOthers(save, connection) || order == nil && !own.isEmpty
    // A model that is deleted has reported so already, if it was in the context at all.
    if order == nil, save.deleted.contains(where: { isOwn($0, connection) }) { isStale = true }
    if areTooMany(own) { isStale = true }
    if isStale { own = [] }
    for reference in own {
      guard let model = context.model(at: reference, in: connection) else { continue }
      recordChange(model, reading.subject)
    }
  }

  private func isOwn(_ reference: RowReference, _ connection: StoreConnection) -> Bool {
    connection.descriptor(of: reference)?.isKind(of: reading.subject) == true
  }

  /// Whether the saved rows include rows of other models that the fetch reads.
  private func hasOthers(_ save: SavedRows, _ connection: StoreConnection) -> Bool {
    func any(_ rows: [RowReference], _ isRead: (ModelDescriptor) -> Bool) -> Bool {
      rows.contains { connection.descriptor(of: $0).map(isRead) == true }
    }
    return any(save.inserted, reading.readsOthers) || any(save.deleted, reading.readsOthers)
      || any(save.updated, reading.areOthersAffected(byAnyOf:))
  }

  private func becomeStale() {
    isStale = true
    tell()
  }

  /// Records a model whose values, or whose presence, changed.
  ///
  /// - Returns: Whether it is of the fetch's class.
  @discardableResult
  private func recordChange(_ model: any PersistentModel, _ descriptor: ModelDescriptor) -> Bool {
    guard descriptor.isKind(of: reading.subject), let model = model as? Element else {
      return false
    }
    if order == nil || changedModels.count >= max(shown.tree.count, 4096) { isStale = true }
    if isStale {
      forgetChanges()
    } else if changedIDs.insert(ObjectIdentifier(model)).inserted {
      changedModels.append(model)
    }
    return true
  }

  /// Records, for cursors, a model whose values may have changed.
  private func recordUpdate(of model: any PersistentModel) {
    guard !updateLists.isEmpty, let model = model as? Element else { return }
    guard isShown(model) else { return }
    updateLists.record(model)
    if isFollowed {
      isFollowed = false
      signal.wake()
    }
  }

  private func isShown(_ model: Element) -> Bool {
    if order != nil { return slots[ObjectIdentifier(model)] != nil }
    let ids = shownIDs ?? Set(shown.tree.lazy.map(\.id))
    shownIDs = ids
    return ids.contains(ObjectIdentifier(model))
  }

  /// Records, for cursors, the models that leave: their changes until they come back are not reported.
  private func recordDepartures(in next: ShownResults<Element, SectionTitle>) {
    if updateLists.isEmpty || !next.isChanged { return }
    let difference = next.tree.difference(from: shown.tree)
    let moved = Set(difference.insertions.lazy.map(\.id))
    for (offset, id) in difference.removals where !moved.contains(id) {
      updateLists.record(shown.tree[offset].model(as: Element.self))
    }
  }

  func forgetChanges() {
    changedModels = []
    changedIDs = []
  }

  /// Whether a model that was added or removed can affect the results.
  private func concerns(_ model: any PersistentModel) -> Bool {
    guard order != nil, let model = model as? Element else { return true }
    return slots[ObjectIdentifier(model)] != nil || (try? isWanted(model)) ?? true
  }

  // MARK: Notifying

  private func tell() {
    guard isAwaited else { return }
    isAwaited = false
    isFollowed = false
    if let observers = context.observers {
      observers.tell { signal.contentsChange() }
    } else {
      signal.contentsChange()
    }
  }

  override func showChanges() {
    if isAwaited { settle() }
  }

  // MARK: Bringing up to date

  func settle() {
    guard !isSettling, isStale || !changedModels.isEmpty || context.isAhead else { return }
    isSettling = true
    // A merge has other observers settle, too, within this one: these do not merge again.
    let isFirst = context.observers?.beginSettling() ?? false
    defer {
      isSettling = false
      if isFirst { context.observers?.endSettling() }
    }
    do {
      if !needsStore, let next = try update() {
        show(next)
      } else {
        try context.readingOneState { isOneState in
          if isOneState { try settle(limit: 2) {} } else { try settleLoosely(isFirst) }
        }
      }
      error = nil
    } catch {
      // A half-finished update is repeated at the next read.
      isStale = true
      self.error = error
      tell()
    }
  }

  /// Whether bringing the results up to date takes more than what is in memory.
  private var needsStore: Bool {
    isStale || context.isAhead || changedModels.contains { $0._$state.needsRow }
  }

  /// Brings the results up to date in a store that reads only what is newest.
  ///
  /// A fetch may have met what others have saved since the last merge: then the other models are read again, and the results
  /// brought up to date with them.
  private func settleLoosely(_ isFirst: Bool) throws {
    try settle(limit: isFirst ? Self.settlingLimit : 1) {
      if isFirst { context.mergeVisibleSaves() }
    }
  }

  /// Brings the results up to date, and again if that has changed models.
  ///
  /// - Parameters:
  ///   - limit: The number of times.
  ///   - hasFetched: Called after each fetch.
  /// - Throws: An error of fetching.
  private func settle(limit: Int, hasFetched: () -> Void) throws {
    for _ in 0..<limit where isStale || !changedModels.isEmpty {
      if !isStale, let next = try update() {
        show(next)
      } else {
        show(try refetch())
        hasFetched()
      }
    }
  }

  /// The number of times that results are brought up to date at once while others keep saving.
  private static var settlingLimit: Int { 4 }

  private func show(_ next: ShownResults<Element, SectionTitle>) {
    if next.isChanged { tell() }
    recordDepartures(in: next)
    shown = next
    shownIDs = nil
  }
}
