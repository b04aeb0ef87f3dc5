import Foundation
import RowFormat

extension ModelContext {
  /// Fetches a page of the models that match: the first one, or the one after a token.
  ///
  ///     var readings = FetchDescriptor<Reading>(sortBy: [SortDescriptor(\.at, order: .reverse)])
  ///     readings.fetchLimit = 50
  ///     let first = try context.page(readings)
  ///     let second = try context.page(readings, after: first.next)
  ///
  /// The models are those of ``fetch(_:)``, unsaved changes included; models with equal sort keys are ordered
  /// by their rows. A page begins after the last model of the previous page, wherever that is now: no
  /// model is shown twice or left out because others were inserted or deleted meanwhile. A model whose sort keys change
  /// meanwhile moves, and appears in its new place.
  ///
  /// The token belongs to the entity and the sort keys of the descriptor. The predicate may differ: the page then begins
  /// at the same place among other models.
  ///
  /// - Parameters:
  ///   - descriptor: The models and their order, with the limit as the page's size; without a limit, the page has
  ///     all remaining models. Sort keys are stored properties, also of models that to-one relationships lead to.
  ///     Without any, models come in the order in which they were first saved, those of each subclass together.
  ///   - token: ``FetchPage/next`` of the previous page; `nil` for the first page.
  /// - Returns: The page, which is empty if there is nothing after the token.
  /// - Throws: ``PageError`` for a token that is damaged or of another sort, and for a sort that cannot be paged;
  ///   otherwise as ``fetch(_:)``.
  /// - Complexity: In a `LogStore` that of the page's models, wherever the page is, if an index begins with the properties that
  ///   the predicate compares for equality, followed by the sort keys, all in one direction, or if there are no sort
  ///   keys. Without an index, that of a sorted fetch.
  public func page<T>(
    _ descriptor: FetchDescriptor<T>,
    after token: PageToken? = nil
  ) throws -> FetchPage<T> where T: PersistentModel {
    let pager = try Pager(descriptor, in: self)
    return try pager.readingOneState {
      let (models, hasMore) = try pager.models(behind: token, pager.sort)
      return FetchPage(
        models: models,
        next: hasMore ? try models.last.map(pager.token) : nil,
        previous: token == nil ? nil : try models.first.map(pager.token)
      )
    }
  }

  /// Fetches the page of the models that match before a token: the last ones before it.
  ///
  /// - Parameters:
  ///   - descriptor: As for ``page(_:after:)``.
  ///   - token: ``FetchPage/previous`` of the following page.
  /// - Returns: The page, its models in the order of the descriptor; it is empty if there is nothing before the token.
  /// - Throws: As ``page(_:after:)``.
  /// - Complexity: As ``page(_:after:)``, and that of all models with the sort keys of the first one of the page. All
  ///   models before the token are read if there are no sort keys and models of the class are unsaved, or the class has
  ///   subclasses.
  public func page<T>(
    _ descriptor: FetchDescriptor<T>,
    before token: PageToken
  ) throws -> FetchPage<T> where T: PersistentModel {
    let pager = try Pager(descriptor, in: self)
    return try pager.readingOneState {
      let (models, hasMore) = try pager.models(behind: token, pager.sort.reversed())
      return FetchPage(
        models: models.reversed(),
        next: try models.first.map(pager.token),
        previous: hasMore ? try models.last.map(pager.token) : nil
      )
    }
  }
}

/// Fetches the pages of one descriptor.
private struct Pager<T: PersistentModel> {
  let sort: PageSort<T>
  private let descriptor: FetchDescriptor<T>
  private let context: ModelContext
  private let connection: StoreConnection
  /// The sort keys by which the store places models, where these may have others in the context.
  private let stored: StoredKeys?

  init(_ descriptor: FetchDescriptor<T>, in context: ModelContext) throws {
    if let offset = descriptor.fetchOffset, offset > 0 { throw PageError.offset(offset) }
    sort = try PageSort(descriptor.sortBy)
    guard let connection = try context.onlyConnection(for: descriptor) else {
      throw PageError.severalStores(entity: ModelDescriptor.of(T.self).entityName)
    }
    self.connection = connection
    self.descriptor = descriptor
    self.context = context
    stored = context.storedKeys(of: descriptor, sort.ordering, in: connection)
  }

  /// Runs a closure that fetches a page: its tokens are of the state that has its models, whatever others save meanwhile.
  func readingOneState(_ body: () throws -> FetchPage<T>) throws -> FetchPage<T> {
    // Otherwise tokens are of the values that the models have in the context.
    if stored == nil { return try body() }
    return try context.holdingState(of: connection, body)
  }

  /// The first models after a token, in an order.
  ///
  /// - Returns: The models, and whether there are more.
  func models(behind token: PageToken?, _ order: PageSort<T>) throws -> ([T], Bool) {
    var request = descriptor
    request.sortBy = order.descriptors
    if let token {
      let position = try position(of: token, in: order)
      let behind = Predicate<T> { PositionTest(position, of: $0) }
      request.predicate = descriptor.predicate.map { $0 && behind } ?? behind
    }
    let size = descriptor.fetchLimit.flatMap { $0 > 0 ? $0 : nil } ?? .max
    // One more model tells whether there is a next page.
    let wanted = size.addingReportingOverflow(1).partialValue
    request.fetchLimit = size == .max ? nil : wanted
    var models: [T]
    if isOrderOfFetch(order) {
      models = try context.fetch(request)
    } else if isOrderOfFetchByIdentifier {
      request.sortBy.append(SortDescriptor(\T.persistentModelID, order: order.tieOrder))
      models = try context.fetch(request)
    } else {
      models = try order.sorted(
        candidates(for: request, order),
        byRow: connection.store.ordersRowsByReference,
        unsaved: context.inserted,
        by: values(of:)
      )
    }
    guard models.count > size else { return (models, false) }
    models.removeSubrange(size...)
    return (models, true)
  }

  /// Models that have all of a page, whose order among models with equal keys is not that of a fetch.
  ///
  /// They are the first ones by the sort keys, and all that have the same keys as the last one on the page.
  private func candidates(
    for request: FetchDescriptor<T>,
    _ order: PageSort<T>
  ) throws -> [T] {
    var request = request
    guard let wanted = request.fetchLimit, wanted < .max, !order.descriptors.isEmpty,
      connection.store.ordersRowsByReference
    else {
      request.sortBy = []
      request.fetchLimit = nil
      return try context.fetch(request)
    }
    var limit = wanted + 1
    while true {
      request.fetchLimit = limit
      let models = try context.fetch(request)
      if models.count < limit { return models }
      let ends = try (values(of: models[wanted - 1]), values(of: models[limit - 1]))
      if order.compare(ends.0, ends.1) != 0 { return models }
      limit *= 4
    }
  }

  /// Whether a fetch by the sort keys alone returns models with equal keys in the order of pages.
  private func isOrderOfFetch(_ order: PageSort<T>) -> Bool {
    connection.store.ordersRowsByReference && order.tieOrder == .forward
  }

  /// Whether a fetch whose last sort key is the identifier has the order of pages.
  private var isOrderOfFetchByIdentifier: Bool {
    let entity = ModelDescriptor.of(T.self).entityName
    // The order of tables differs from that of their entities' names.
    let isOfOneTable = !context.coordinator.schema.entities.contains {
      $0.superentityName == entity
    }
    return (isOfOneTable || !connection.store.ordersRowsByReference)
      && !(descriptor.includePendingChanges && context.hasUnsavedModels(of: .of(T.self)))
  }

  /// The sort keys by which a model has its place.
  private func values(of model: T) throws -> [QueryValue] {
    try stored?.values(of: model, at: model.row) ?? sort.values(of: model)
  }

  /// The token of a model's place.
  func token(of model: T) throws -> PageToken {
    let entity = ModelDescriptor.of(T.self).entityName
    let identifier = model.persistentModelID
    let values = zip(try values(of: model), sort.ordering.keys).map { value, key in
      PageTokenContent.Value(value: value, isDescending: key.order == .reverse)
    }
    return PageToken(
      PageTokenContent(
        entity: PageTokenContent.hash(of: entity),
        sort: sort.fingerprint,
        values: values,
        rowEntity: identifier.entityName == entity ? "" : identifier.entityName,
        row: identifier.isTemporary
          ? .unsaved(identifier.id.key)
          : identifier.id.text.map { .text($0) } ?? .number(identifier.id.key)
      )
    )
  }

  /// The place of a token, in the descriptor's order or the reversed one.
  private func position(of token: PageToken, in order: PageSort<T>) throws -> PagePosition {
    let content = try PageTokenContent(token)
    let entities = context.coordinator.schema.entitiesByName
    let values = try content.values(for: sort, entities.keys)
    return order.position(values: values, try tie(content, order.tieOrder))
  }

  private func tie(_ content: PageTokenContent, _ order: SortOrder) throws -> PagePosition.Tie {
    let own = ModelDescriptor.of(T.self).entityName
    let name = content.rowEntity.isEmpty ? own : content.rowEntity
    guard let type = context.coordinator.schema.entitiesByName[name]?.modelType,
      ModelDescriptor.of(type).isKind(of: .of(T.self))
    else {
      throw PageError.malformedToken(expected: "a row of \(own)", found: "one of \(name)")
    }
    let store = IdentifierOrigin.named(store: connection.identifier, entity: name)
    switch content.row {
    case .unsaved(let key):
      let identifier = PersistentIdentifier(
        origin: .named(store: nil, entity: name),
        key: key
      )
      let unsaved = context.inserted
      guard let model = context.unsavedModel(for: identifier),
        let place = unsaved.firstIndex(where: { $0 === model })
      else { throw PageError.unsavedModel(found: "\(identifier)") }
      let notBehind = order == .forward ? unsaved[...place] : unsaved[place...]
      return .unsaved(notBehind: Set(notBehind.map { ObjectIdentifier($0) }))
    case .number(let key):
      let identifier = PersistentIdentifier(origin: store, key: key)
      guard connection.store.ordersRowsByReference else { return .identifier(identifier) }
      guard let row = connection.store.reference(of: identifier) else {
        throw PageError.malformedToken(expected: "a row of \(own)", found: "\(identifier)")
      }
      return .row(row)
    case .text(let key):
      let identifier = PersistentIdentifier(origin: store, primaryKeyText: key)
      guard !connection.store.ordersRowsByReference else {
        throw PageError.malformedToken(expected: "the number of a row", found: "\(identifier)")
      }
      return .identifier(identifier)
    }
  }
}
