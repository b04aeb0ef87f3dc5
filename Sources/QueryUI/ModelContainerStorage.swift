import LogStore
public import ModelRuntime

/// The storage of a view with the modifier `modelContainer(for:)`: the container, which is opened when the view is first drawn.
///
/// ```swift
/// struct ContainedView<Content: View>: View {
///   let content: Content
///   let options: ModelContainerOptions
///   @State private var storage = ModelContainerStorage()
///
///   var body: some View {
///     content.environment(\.modelContext, storage.modelContext(options))
///   }
/// }
/// ```
@MainActor
public final class ModelContainerStorage {
  private var context: ModelContext?

  /// Makes a storage for a view that has not been drawn yet.
  public nonisolated init() {}

  /// The main context of the container, which the first call opens.
  ///
  /// A container that cannot be opened is reported to `onSetup`; without it the program ends. A program that continues has a
  /// context without models.
  public func modelContext(_ options: ModelContainerOptions) -> ModelContext {
    if let context { return context }
    let container = Result { try options.open() }
    if options.onSetup == nil, case .failure(let error) = container {
      fatalError("the container for \(options.types) cannot be opened: \(error)")
    }
    options.onSetup?(container)
    let context = (try? container.get().mainContext) ?? .withoutModels
    self.context = context
    return context
  }
}

/// The arguments of the modifier `modelContainer(for:)`.
@MainActor
public struct ModelContainerOptions {
  let types: [any PersistentModel.Type]
  let isInMemory: Bool
  let isAutosaveEnabled: Bool
  let isUndoEnabled: Bool
  let onSetup: ((Result<ModelContainer, any Error>) -> Void)?

  /// Describes a container.
  ///
  /// - Parameters:
  ///   - types: The model classes; what they are related to comes with them.
  ///   - inMemory: Whether the models go with the program.
  ///   - isAutosaveEnabled: Whether the main context saves by itself.
  ///   - isUndoEnabled: Whether the main context has an undo manager.
  ///   - onSetup: Called with the container once it is open, or with the error.
  public init(
    for types: [any PersistentModel.Type],
    inMemory: Bool = false,
    isAutosaveEnabled: Bool = true,
    isUndoEnabled: Bool = false,
    onSetup: ((Result<ModelContainer, any Error>) -> Void)? = nil
  ) {
    self.types = types
    isInMemory = inMemory
    self.isAutosaveEnabled = isAutosaveEnabled
    self.isUndoEnabled = isUndoEnabled
    self.onSetup = onSetup
  }

  func open() throws -> ModelContainer {
    let container = try ModelContainer(
      for: Schema(types),
      configurations: ModelConfiguration(isStoredInMemoryOnly: isInMemory)
    )
    container.mainContext.autosaveEnabled = isAutosaveEnabled
    if isUndoEnabled { container.mainContext.undoManager = UndoManager() }
    return container
  }
}

extension ModelContext {
  /// The value of `\.modelContext` without a container: a context of its own, in which every fetch throws.
  ///
  /// A query there shows nothing, and its `fetchError` says that the container has no such models.
  public static var withoutModels: ModelContext { ModelContext(emptyContainer) }

  private static let emptyContainer: ModelContainer = {
    let memory = ModelConfiguration(isStoredInMemoryOnly: true)
    do { return try ModelContainer(for: Schema(), configurations: memory) } catch {
      fatalError("a container without models cannot be opened: \(error)")
    }
  }()
}
