@_exported import QueryUI
@_exported import SwiftData
@_exported import TextScreen

/// The properties of `@Query` in a view of TextScreen.
public struct ViewQueryProperties: QueryProperties, DynamicProperty {
  @Environment(\.modelContext) public var modelContext
  @State public var storage = QueryStorage()

  public init() {}
}

public typealias Query<Element: PersistentModel> = ModelQuery<Element, ViewQueryProperties>

extension ModelQuery: @retroactive @preconcurrency DynamicProperty
where Properties: DynamicProperty {}

private struct ModelContextKey: EnvironmentKey {
  static var defaultValue: ModelContext? { nil }
}

extension EnvironmentValues {
  public var modelContext: ModelContext {
    get { self[ModelContextKey.self] ?? .withoutModels }
    set { self[ModelContextKey.self] = newValue }
  }
}

extension View {
  public func modelContext(_ modelContext: ModelContext) -> some View {
    environment(\.modelContext, modelContext)
  }

  public func modelContainer(_ container: ModelContainer) -> some View {
    modelContext(container.mainContext)
  }
}

extension View {
  public func modelContainer(
    for types: any PersistentModel.Type...,
    inMemory: Bool = false,
    isAutosaveEnabled: Bool = true,
    isUndoEnabled: Bool = false,
    onSetup: ((Result<ModelContainer, any Error>) -> Void)? = nil
  ) -> some View {
    ContainedView(
      content: self,
      options: ModelContainerOptions(
        for: types,
        inMemory: inMemory,
        isAutosaveEnabled: isAutosaveEnabled,
        isUndoEnabled: isUndoEnabled,
        onSetup: onSetup
      )
    )
  }
}

private struct ContainedView<Content: View>: View {
  let content: Content
  let options: ModelContainerOptions
  @State private var storage = ModelContainerStorage()

  var body: some View { content.modelContext(storage.modelContext(options)) }
}
