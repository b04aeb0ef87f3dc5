import ModelRuntime
import PostgresStore
import Testing

@Suite struct `Properties that share a mark, on a server` {
  private static let policies: [MergePolicy] = [
    .lastWriter, .throw, .keepStored, .decide { _ in .stored },
  ]

  private func containers() throws -> (ModelContainer, ModelContainer) {
    let namespace = try TestNamespace()
    func open() throws -> ModelContainer {
      try ModelContainer(for: Schema(Wide.all), configurations: [namespace.configuration])
    }
    return (try open(), try open())
  }

  private func check(_ type: any WideModel.Type, _ body: (any WideChecking) throws -> Void) throws {
    func open<M: WideModel>(_ type: M.Type) throws {
      let (first, second) = try containers()
      try body(WideCheck(first, second, type))
    }
    try open(type)
  }

  @Test(arguments: Wide.classes)
  func `are not written back once they are refreshed`(type: any WideModel.Type) throws {
    try check(type) { try $0.refreshed() }
  }

  @Test(arguments: Wide.classes)
  func `are undone one by one`(type: any WideModel.Type) throws {
    try check(type) { try $0.undone() }
  }

  @Test(arguments: Wide.classes)
  func `are given up together by a rollback`(type: any WideModel.Type) throws {
    try check(type) { try $0.rolledBack() }
  }

  @Test(arguments: Wide.classes, policies)
  func `do not meet each other`(type: any WideModel.Type, policy: MergePolicy) throws {
    try check(type) { try $0.kept(policy) }
    try check(type) { try $0.changedBetweenRefreshes(policy) }
  }

  @Test(arguments: Wide.classes)
  func `are merged one by one`(type: any WideModel.Type) throws {
    try check(type) { try $0.merged() }
  }

  @Test(arguments: Wide.classes, policies)
  func `are added to, whatever is set beside`(
    type: any WideModel.Type,
    policy: MergePolicy
  ) throws {
    try check(type) { try $0.added(policy) }
  }

  @Test(arguments: Wide.classes)
  func `are left alone by a batch that sets others`(type: any WideModel.Type) throws {
    try check(type) { try $0.batched() }
  }

  @Test(arguments: Wide.classes)
  func `are compared one by one`(type: any WideModel.Type) throws {
    try check(type) { try $0.compared() }
  }

  @Test(arguments: policies)
  func `keep each other's ends of relationships`(policy: MergePolicy) throws {
    let (first, second) = try containers()
    try WideRelationshipCheck(first, second).keepEachOther(policy)
  }

  @Test func `stay where another context has put them after a delete`() throws {
    let (first, second) = try containers()
    try WideRelationshipCheck(first, second).stayReattached()
  }

  @Test func `keep their places in lists`() throws {
    let (first, second) = try containers()
    try WideRelationshipCheck(first, second).keepPlaces()
  }
}
