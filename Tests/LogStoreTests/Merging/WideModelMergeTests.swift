import LogStore
import SwiftData
import Testing

@Suite struct `Properties that share a mark` {
  private static let policies: [MergePolicy] = [
    .lastWriter, .throw, .keepStored, .decide { _ in .stored },
  ]

  private func container() throws -> ModelContainer {
    try ModelContainer(
      for: Schema(Wide.all),
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
  }

  private func check(_ type: any WideModel.Type, _ body: (any WideChecking) throws -> Void) throws {
    func open<M: WideModel>(_ type: M.Type) throws {
      let container = try container()
      try body(WideCheck(container, container, type))
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
    let container = try container()
    try WideRelationshipCheck(container, container).keepEachOther(policy)
  }

  @Test func `stay where another context has put them after a delete`() throws {
    let container = try container()
    try WideRelationshipCheck(container, container).stayReattached()
  }

  @Test func `keep their places in lists`() throws {
    let container = try container()
    try WideRelationshipCheck(container, container).keepPlaces()
  }
}
