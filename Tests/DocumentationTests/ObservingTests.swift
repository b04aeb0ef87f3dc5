import Foundation
import SwiftData
import Synchronization
import Testing

private let printed = Mutex<[String]>([])
private func print(_ text: String) { printed.withLock { $0.append(text) } }

@ModelActor actor JobFeed {
  func send(_ write: @Sendable (String) async throws -> Void) async throws {
    let jobs = try ResultsObserver(sortBy: [SortDescriptor(\Job.due)], modelContext: modelContext)
    for await change in jobs.changes {
      var events = ""
      for step in change.difference {
        switch step {
        case .remove(let offset, _, _): events += "event: remove\ndata: \(offset)\n\n"
        case .insert(let offset, let job, _):
          events += "event: insert\ndata: \(offset) \(job.title)\n\n"
        }
      }
      for (offset, job) in change.updated {
        events += "event: update\ndata: \(offset) \(job.title)\n\n"
      }
      try await write(events)
    }
  }
}

@MainActor func show(_ jobs: ResultsObserver<Job, Never>) async {
  var lines: [String] = []
  for await change in jobs.changes {
    for step in change.difference {
      switch step {
      case .remove(let offset, _, _): lines.remove(at: offset)
      case .insert(let offset, let job, _): lines.insert(job.title, at: offset)
      }
    }
    for (offset, job) in change.updated { lines[offset] = job.title }
    print("\u{1B}[2J\u{1B}[H" + lines.joined(separator: "\n"))
  }
}

@Suite(.timeLimit(.minutes(30))) struct `The article on observing results shows` {
  let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: Job.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
  }

  @Test func `a list as Server-Sent Events`() async throws {
    let context = ModelContext(container)
    let first = Job("first", due: Date(timeIntervalSince1970: 1))
    context.insert(first)
    context.insert(Job("third", due: Date(timeIntervalSince1970: 3)))
    try context.save()
    let (stream, events) = AsyncStream.makeStream(of: String.self)
    let feed = JobFeed(modelContainer: container)
    let task = Task { try await feed.send { events.yield($0) } }
    var sent = stream.makeAsyncIterator()
    #expect(
      await sent.next()
        == "event: insert\ndata: 0 first\n\nevent: insert\ndata: 1 third\n\n"
    )
    context.insert(Job("second", due: Date(timeIntervalSince1970: 2)))
    try context.save()
    #expect(await sent.next() == "event: insert\ndata: 1 second\n\n")
    first.title = "once first"
    try context.save()
    #expect(await sent.next() == "event: update\ndata: 0 once first\n\n")
    context.delete(first)
    try context.save()
    #expect(await sent.next() == "event: remove\ndata: 0\n\n")
    task.cancel()
    try await task.value
  }

  @MainActor
  @Test func `a list in a terminal, and a cursor`() async throws {
    let context = container.mainContext
    let observer = try ResultsObserver(sortBy: [SortDescriptor(\Job.due)], modelContext: context)
    let task = Task { await show(observer) }
    context.insert(Job("second", due: Date(timeIntervalSince1970: 2)))
    while printed.withLock({ $0.last }) != "\u{1B}[2J\u{1B}[Hsecond" { await Task.yield() }
    let cursor = observer.makeCursor()
    _ = cursor.advance()
    context.insert(Job("first", due: Date(timeIntervalSince1970: 1)))
    while printed.withLock({ $0.last }) != "\u{1B}[2J\u{1B}[Hfirst\nsecond" { await Task.yield() }
    task.cancel()
    await task.value

    if let change = cursor.advance() {
      print("\(change.difference.count) steps, \(change.updated.count) to draw again")
    }
    #expect(printed.withLock { $0.last } == "1 steps, 0 to draw again")
  }

  @MainActor
  @Test func `the state of a query`() {
    let context = container.mainContext
    let state = QueryState<Job>()
    context.insert(Job("second", due: Date(timeIntervalSince1970: 2)))
    context.insert(Job("first", due: Date(timeIntervalSince1970: 1)))
    state.update(FetchDescriptor(sortBy: [SortDescriptor(\.due)]), in: context)
    let titles = state.elements.map(\.title)
    #expect(titles == ["first", "second"])
  }
}
