public import Foundation

// The two families of initializers, each for a descriptor or its parts, in a given context or in one of the observer's own.
//
// The compiler fills in `isolation` with the caller's actor. A save of another context
// calls that actor.

/// Makes a descriptor from its parts.
private func descriptor<Element: PersistentModel>(
  _ filter: Predicate<Element>?,
  _ sort: [SortDescriptor<Element>]?
) -> FetchDescriptor<Element> {
  FetchDescriptor(predicate: filter, sortBy: sort ?? [])
}

extension ResultsObserver where SectionTitle == Never {
  /// Shows the models that match a descriptor.
  ///
  /// - Parameters:
  ///   - fetchDescriptor: The models to show, and their order.
  ///   - modelContext: The context whose models are shown.
  ///   - isolation: The actor that owns the context; keep the default.
  /// - Throws: An error of fetching.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
    modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(fetchDescriptor, modelContext, isolation)
  }

  /// Shows the models that match.
  ///
  /// - Parameters:
  ///   - filterBy: The condition that models must meet; `nil` matches all.
  ///   - sortBy: The order of the models; `nil` keeps the order in which they were first saved.
  ///   - modelContext: The context whose models are shown.
  ///   - isolation: The actor that owns the context; keep the default.
  /// - Throws: An error of fetching.
  public convenience init(
    filterBy: Predicate<Element>? = nil,
    sortBy: [SortDescriptor<Element>]? = nil,
    modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(descriptor(filterBy, sortBy), modelContext, isolation)
  }

  /// Shows the models that match a descriptor.
  ///
  /// - Parameters:
  ///   - fetchDescriptor: The models to show, and their order.
  ///   - modelContainer: The container; the observer makes a context of its own.
  ///   - isolation: The actor that owns the context; keep the default.
  /// - Throws: An error of fetching.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
    modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(fetchDescriptor, ModelContext(modelContainer), isolation)
  }

  /// Shows the models that match.
  ///
  /// - Parameters:
  ///   - filterBy: The condition that models must meet; `nil` matches all.
  ///   - sortBy: The order of the models; `nil` keeps the order in which they were first saved.
  ///   - modelContainer: The container; the observer makes a context of its own.
  ///   - isolation: The actor that owns the context; keep the default.
  /// - Throws: An error of fetching.
  public convenience init(
    filterBy: Predicate<Element>? = nil,
    sortBy: [SortDescriptor<Element>]? = nil,
    modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(descriptor(filterBy, sortBy), ModelContext(modelContainer), isolation)
  }
}

extension ResultsObserver where SectionTitle == String {
  /// Shows the models that match a descriptor, in sections.
  ///
  /// - Parameters:
  ///   - fetchDescriptor: The models to show, and their order.
  ///   - sectionBy: The title of a model's section.
  ///   - modelContext: The context whose models are shown.
  ///   - isolation: The actor that owns the context; keep the default.
  /// - Throws: An error of fetching.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
    sectionBy: KeyPath<Element, String>,
    modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      fetchDescriptor,
      sectionBy: sectionBy,
      title: { $0[keyPath: sectionBy] },
      modelContext,
      isolation
    )
  }

  /// Shows the models that match, in sections.
  ///
  /// - Parameters:
  ///   - filterBy: The condition that models must meet; `nil` matches all.
  ///   - sortBy: The order of the models; `nil` keeps the order in which they were first saved.
  ///   - sectionBy: The title of a model's section.
  ///   - modelContext: The context whose models are shown.
  ///   - isolation: The actor that owns the context; keep the default.
  /// - Throws: An error of fetching.
  public convenience init(
    filterBy: Predicate<Element>? = nil,
    sortBy: [SortDescriptor<Element>]? = nil,
    sectionBy: KeyPath<Element, String>,
    modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      descriptor(filterBy, sortBy),
      sectionBy: sectionBy,
      title: { $0[keyPath: sectionBy] },
      modelContext,
      isolation
    )
  }

  /// Shows the models that match a descriptor, in sections.
  ///
  /// - Parameters:
  ///   - fetchDescriptor: The models to show, and their order.
  ///   - sectionBy: The title of a model's section.
  ///   - modelContainer: The container; the observer makes a context of its own.
  ///   - isolation: The actor that owns the context; keep the default.
  /// - Throws: An error of fetching.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
    sectionBy: KeyPath<Element, String>,
    modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      fetchDescriptor,
      sectionBy: sectionBy,
      title: { $0[keyPath: sectionBy] },
      ModelContext(modelContainer),
      isolation
    )
  }

  /// Shows the models that match, in sections.
  ///
  /// - Parameters:
  ///   - filterBy: The condition that models must meet; `nil` matches all.
  ///   - sortBy: The order of the models; `nil` keeps the order in which they were first saved.
  ///   - sectionBy: The title of a model's section.
  ///   - modelContainer: The container; the observer makes a context of its own.
  ///   - isolation: The actor that owns the context; keep the default.
  /// - Throws: An error of fetching.
  public convenience init(
    filterBy: Predicate<Element>? = nil,
    sortBy: [SortDescriptor<Element>]? = nil,
    sectionBy: KeyPath<Element, String>,
    modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      descriptor(filterBy, sortBy),
      sectionBy: sectionBy,
      title: { $0[keyPath: sectionBy] },
      ModelContext(modelContainer),
      isolation
    )
  }

  /// Shows the models that match a descriptor, in sections.
  ///
  /// - Parameters:
  ///   - fetchDescriptor: The models to show, and their order.
  ///   - sectionBy: The title of a model's section; a model without one is in the section `""`.
  ///   - modelContext: The context whose models are shown.
  ///   - isolation: The actor that owns the context; keep the default.
  /// - Throws: An error of fetching.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
    sectionBy: KeyPath<Element, String?>,
    modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      fetchDescriptor,
      sectionBy: sectionBy,
      title: { $0[keyPath: sectionBy] ?? "" },
      modelContext,
      isolation
    )
  }

  /// Shows the models that match, in sections.
  ///
  /// - Parameters:
  ///   - filterBy: The condition that models must meet; `nil` matches all.
  ///   - sortBy: The order of the models; `nil` keeps the order in which they were first saved.
  ///   - sectionBy: The title of a model's section; a model without one is in the section `""`.
  ///   - modelContext: The context whose models are shown.
  ///   - isolation: The actor that owns the context; keep the default.
  /// - Throws: An error of fetching.
  public convenience init(
    filterBy: Predicate<Element>? = nil,
    sortBy: [SortDescriptor<Element>]? = nil,
    sectionBy: KeyPath<Element, String?>,
    modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      descriptor(filterBy, sortBy),
      sectionBy: sectionBy,
      title: { $0[keyPath: sectionBy] ?? "" },
      modelContext,
      isolation
    )
  }

  /// Shows the models that match a descriptor, in sections.
  ///
  /// - Parameters:
  ///   - fetchDescriptor: The models to show, and their order.
  ///   - sectionBy: The title of a model's section; a model without one is in the section `""`.
  ///   - modelContainer: The container; the observer makes a context of its own.
  ///   - isolation: The actor that owns the context; keep the default.
  /// - Throws: An error of fetching.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
    sectionBy: KeyPath<Element, String?>,
    modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      fetchDescriptor,
      sectionBy: sectionBy,
      title: { $0[keyPath: sectionBy] ?? "" },
      ModelContext(modelContainer),
      isolation
    )
  }

  /// Shows the models that match, in sections.
  ///
  /// - Parameters:
  ///   - filterBy: The condition that models must meet; `nil` matches all.
  ///   - sortBy: The order of the models; `nil` keeps the order in which they were first saved.
  ///   - sectionBy: The title of a model's section; a model without one is in the section `""`.
  ///   - modelContainer: The container; the observer makes a context of its own.
  ///   - isolation: The actor that owns the context; keep the default.
  /// - Throws: An error of fetching.
  public convenience init(
    filterBy: Predicate<Element>? = nil,
    sortBy: [SortDescriptor<Element>]? = nil,
    sectionBy: KeyPath<Element, String?>,
    modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      descriptor(filterBy, sortBy),
      sectionBy: sectionBy,
      title: { $0[keyPath: sectionBy] ?? "" },
      ModelContext(modelContainer),
      isolation
    )
  }
}
