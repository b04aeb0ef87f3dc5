import RowFormat

extension ModelContext {
  /// Finds models by the words of their texts, the best first.
  ///
  ///     let found = try context.search(
  ///       FetchDescriptor<Meeting>(predicate: #Predicate { $0.year == 2026 }),
  ///       for: "budget \"next year\" -draft", in: \.title, \.notes)
  ///     for match in found { print(match.score, match.snippet(of: \.notes)?.text ?? match.model.title) }
  ///
  /// A model is found if each word, or phrase, is in one of the properties; it is ranked by Okapi BM25, with the scores
  /// of the properties added up. The words of saved models decide how rare a word is; texts without words do not count.
  /// Unsaved changes count as in ``fetch(_:)``.
  ///
  /// Name the properties in `#Index`, and a `LogStore` keeps an index of their words from the first search on.
  ///
  /// - Parameters:
  ///   - descriptor: The models to search; with its limit and offset, the number of the best to return. Its sort
  ///     order is ignored.
  ///   - query: The words; see ``TextQuery``.
  ///   - properties: Stored properties with text.
  /// - Returns: The models, the best first; none if the query has no words.
  /// - Throws: As ``fetch(_:)``; ``SwiftDataError/unsupportedKeyPath`` for a property that is not stored as text.
  /// - Complexity: With an index, O(rows that have the words); otherwise the words of all rows are read. Models are made
  ///   only for the results, unless the predicate needs objects, or the store is a custom one.
  public func search<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for query: TextQuery,
    in properties: KeyPath<T, String>...
  ) throws -> [TextMatch<T>] {
    try search(descriptor, for: query, SearchedProperty.all(properties))
  }

  /// Finds models by the words of their texts, which may be nil.
  ///
  /// - Parameters:
  ///   - descriptor: The models to search, and the number of the best to return.
  ///   - query: The words.
  ///   - properties: Stored properties that may have text.
  /// - Returns: The models, the best first.
  /// - Throws: As ``search(_:for:in:)-(_,_,KeyPath<T,String>...)``.
  public func search<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for query: TextQuery,
    in properties: KeyPath<T, String?>...
  ) throws -> [TextMatch<T>] {
    try search(descriptor, for: query, SearchedProperty.all(properties))
  }

  private func search<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for query: TextQuery,
    _ properties: [SearchedProperty<T>]
  ) throws -> [TextMatch<T>] {
    try explained(.search, descriptor, counting: \.count) {
      let columns = try properties.map { try $0.column() }
      if query.isEmpty || columns.isEmpty { return [] }
      var descriptor = descriptor
      descriptor.sortBy = []
      let (offset, limit) = (max(descriptor.fetchOffset ?? 0, 0), descriptor.fetchLimit ?? 0)
      let end = limit > 0 ? offset.addingReportingOverflow(limit) : (0, true)
      descriptor.fetchOffset = nil
      descriptor.fetchLimit = nil
      let request = SearchRequest(
        query,
        columns: columns,
        limit: end.1 ? nil : end.0
      )
      let found =
        try searchRows(descriptor, request, properties)
        ?? searchModels(descriptor, request, properties)
      return Array(found.dropFirst(offset).prefix(limit > 0 ? limit : .max))
    }
  }

  /// Searches in the store, and adds unsaved models; `nil` if the store cannot.
  private func searchRows<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ request: SearchRequest,
    _ properties: [SearchedProperty<T>]
  ) throws -> [TextMatch<T>]? {
    try checked("searching models") { () throws -> [TextMatch<T>]? in
      try throwDeferredError()
      mergeSavedChanges()
      guard let connection = try onlyConnection(for: descriptor) else { return nil }
      return try holdingState(of: connection) {
        try searchRows(descriptor, request, properties, in: connection)
      }
    }
  }

  private func searchRows<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ request: SearchRequest,
    _ properties: [SearchedProperty<T>],
    in connection: StoreConnection
  ) throws -> [TextMatch<T>]? {
    while true {
      let pending = UnsavedRows(descriptor, in: self, connection) { reading in
        for column in request.columns { reading.add(column: column) }
      }
      let changeCount = connection.changeCount
      guard
        let answer = try connection.store.search(
          descriptor,
          request,
          excluding: pending.excluded,
          for: editingState
        )
      else { return nil }
      let models = materialize(
        answer.rows.map(\.row),
        as: T.self,
        in: connection,
        readAfter: changeCount
      )
      var found = zip(models, answer.rows).map {
        TextMatch(model: $0, score: $1.score, query: request.query)
      }
      let terms = request.query.terms
      let scanner = WordScanner()
      guard let unsaved = try pending.matching(readAfter: changeCount) else { continue }
      for model in unsaved {
        let texts = SearchedTexts(model, request.query, terms, properties, scanner)
        guard texts.match else { continue }
        found.append(
          TextMatch(model: model, score: texts.score(answer.statistics), query: request.query)
        )
      }
      try throwDeferredError()
      return pending.isEmpty ? found : found.rankedStably()
    }
  }

  /// Searches with objects.
  private func searchModels<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ request: SearchRequest,
    _ properties: [SearchedProperty<T>]
  ) throws -> [TextMatch<T>] {
    let terms = request.query.terms
    let scanner = WordScanner()
    var statistics = properties.map { _ in TextScore.Statistics(termCount: terms.count) }
    // All models count for the rarity of a word, not only those that match the predicate.
    var all = FetchDescriptor<T>()
    all.includePendingChanges = descriptor.includePendingChanges
    try reading(all) { models in
      for model in models {
        let texts = SearchedTexts(model, request.query, terms, properties, scanner)
        for place in properties.indices {
          statistics[place].add(times: texts.times[place], length: texts.lengths[place])
        }
      }
    }
    return try reading(descriptor) { models in
      models.compactMap { model -> TextMatch<T>? in
        let texts = SearchedTexts(model, request.query, terms, properties, scanner)
        guard texts.match, let own = own(model) else { return nil }
        return TextMatch(model: own, score: texts.score(statistics), query: request.query)
      }.rankedStably()
    }
  }

  /// The context's own object for a model that another context may have read.
  private func own<T: PersistentModel>(_ model: T) -> T? {
    model.modelContext === self ? model : self.model(for: model.persistentModelID) as? T
  }
}

/// A property that is searched.
private enum SearchedProperty<Model: PersistentModel> {
  case text(KeyPath<Model, String>)
  case optional(KeyPath<Model, String?>)

  static func all(_ properties: [KeyPath<Model, String>]) -> [Self] { properties.map { .text($0) } }
  static func all(_ properties: [KeyPath<Model, String?>]) -> [Self] {
    properties.map { .optional($0) }
  }

  /// The number of the property.
  ///
  /// - Throws: ``SwiftDataError/unsupportedKeyPath`` if it is not stored as text.
  func column() throws -> Int {
    let keyPath: AnyKeyPath =
      switch self {
      case .text(let keyPath): keyPath
      case .optional(let keyPath): keyPath
      }
    let descriptor = ModelDescriptor.of(Model.self)
    guard let property = descriptor.ownOrInheritedProperty(for: keyPath),
      let reading = ColumnReading(property),
      reading.kind == .text, reading.enumeration == nil
    else {
      throw SwiftDataError.unsupportedKeyPath.explained(
        "\(descriptor.words(for: keyPath)): a search looks for words in stored properties of \(Model.self) that are texts",
        entity: Schema.entityName(for: Model.self)
      )
    }
    return reading.column
  }

  func text(of model: Model) -> String? {
    switch self {
    case .text(let keyPath): model[keyPath: keyPath]
    case .optional(let keyPath): model[keyPath: keyPath]
    }
  }
}

extension SearchedTexts {
  fileprivate init<T: PersistentModel>(
    _ model: T,
    _ query: TextQuery,
    _ terms: [TextQuery.Term],
    _ properties: [SearchedProperty<T>],
    _ scanner: WordScanner
  ) {
    self.init(query, terms)
    for property in properties {
      let utf8 = Array((property.text(of: model) ?? "").utf8)
      unsafe add(utf8.span.bytes, scanner)
    }
  }
}

extension Array {
  /// The matches, the best first; equal ones keep their order.
  fileprivate func rankedStably<T>() -> [TextMatch<T>] where Element == TextMatch<T> {
    enumerated().sorted {
      $0.element.score != $1.element.score
        ? $0.element.score > $1.element.score : $0.offset < $1.offset
    }.map(\.element)
  }
}
