import Foundation
import SwiftData
import Testing

@MainActor @Suite(.timeLimit(.minutes(30))) struct `The state of a query` {
  let container: ModelContainer
  let context: ModelContext

  init() throws {
    container = try makeShelves()
    context = container.mainContext
  }

  /// A screen that draws what it shows again when it is asked to.
  @MainActor final class Screen {
    private(set) var drawings: [String] = []
    private(set) var query: QueryState<Volume>?

    func show(_ descriptor: FetchDescriptor<Volume>, in context: ModelContext) {
      query = QueryState(descriptor) { [weak self] in self?.draw() }
      query?.update(in: context)
      draw()
    }

    func draw() { drawings.append(query?.results.map(\.title).joined() ?? "") }
  }

  private func settle() async { for _ in 0..<3 { await Task { @MainActor in }.value } }

  @Test func `has a screen drawn again after each change, also of another context`() async throws {
    let screen = Screen()
    screen.show(FetchDescriptor(sortBy: [SortDescriptor(\.title)]), in: context)
    context.insert(Volume("b"))
    context.insert(Volume("c"))
    await settle()
    #expect(screen.drawings == ["", "bc"])
    try await Importer(modelContainer: container).add("a")
    while screen.drawings.count < 3 { await Task.yield() }
    #expect(screen.drawings == ["", "bc", "abc"])
  }

  @Test func `follows another descriptor and another context`() async throws {
    context.insert(Volume("b"))
    context.insert(Volume("a"))
    let query = QueryState<Volume>(FetchDescriptor(sortBy: [SortDescriptor(\.title)]))
    #expect(query.results.isEmpty)
    query.update(in: context)
    #expect(query.results.map(\.title) == ["a", "b"])
    query.descriptor.predicate = #Predicate { $0.title > "a" }
    query.update(in: context)
    #expect(query.results.map(\.title) == ["b"])
    query.update(in: ModelContext(container))
    #expect(query.results.isEmpty)
    #expect(query.fetchError == nil)
  }

  @Test func `says what its first fetch threw`() throws {
    let query = QueryState<Badge>()
    query.update(in: context)
    #expect(query.results.isEmpty)
    #expect(query.fetchError is SwiftDataError)
  }

  @Test func `is tracked by a framework that tracks what is drawn`() throws {
    let query = QueryState<Volume>()
    query.update(in: context)
    let notices = Notices()
    notices.track { _ = query.results }
    context.insert(Volume("a"))
    #expect(notices.count == 1)
  }
}
