import Testing

@Suite struct `A model actor` {
  @Test(arguments: [("", ""), ("public ", "public "), ("package ", "package "), ("private ", "")])
  func `has a container, an executor and an initializer as visible as itself`(
    access: String,
    expected: String
  ) {
    let expansion = Expansion("@ModelActor \(access)actor Importer {}")
    #expect(
      expansion.contains(
        """
        \(expected)nonisolated let modelExecutor: any ModelRuntime.ModelExecutor
        \(expected)nonisolated let modelContainer: ModelRuntime.ModelContainer
        \(expected)init(modelContainer: ModelRuntime.ModelContainer) {
          let modelContext = ModelRuntime.ModelContext(modelContainer)
          self.modelExecutor = ModelRuntime.DefaultSerialModelExecutor(modelContext: modelContext)
          self.modelContainer = modelContainer
        }
        """
      )
    )
    #expect(expansion.contains("extension Importer: ModelRuntime.ModelActor {}"))
  }
}
