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

  @Test(arguments: [
    ("init(modelContainer: ModelContainer) {}", 0),
    ("let cache: Cache; init(container: ModelContainer, cache: Cache) {}", 0),
    ("let cache = Cache()", 1),
    ("var cache: Cache?", 1),
    ("static let shared: Int", 1),
    ("var count: Int { 0 }", 1),
    ("init(name: String) {}", 1),
  ])
  func `leaves creating it to an initializer that has to be the actor's own`(
    members: String,
    generated: Int
  ) {
    let expansion = Expansion("@ModelActor actor Importer { \(members) }")
    #expect(expansion.count(of: "DefaultSerialModelExecutor(modelContext") == generated)
  }
}
