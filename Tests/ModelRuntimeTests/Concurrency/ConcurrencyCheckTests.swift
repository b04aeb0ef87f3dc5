import Foundation
import Testing

@testable import ModelRuntime

@Suite struct `Using a context where it must not be used` {
  @Test func `stops the process and says whose the context is`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      ConcurrencyCheck.isEnabled = true
      let container = try makeLibrary()
      let box = await MainActor.run { Unchecked(container.mainContext) }
      await Task.detached {
        _ = try? box.value.fetch(FetchDescriptor<Book>())
      }.value
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("of the main context was called by a thread other than the main one"))
  }

  @Test(arguments: Misuse.allCases)
  fileprivate func `stops the process, whatever is asked of the context`(
    _ misuse: Misuse
  ) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [misuse] in
      ConcurrencyCheck.isEnabled = true
      let container = try makeLibrary()
      let (box, identifier) = try await MainActor.run {
        let book = Book(title: "Kept")
        container.mainContext.insert(book)
        try container.mainContext.save()
        return (Unchecked(container.mainContext), book.persistentModelID)
      }
      await Task.detached { try? misuse.commit(with: box.value, identifier) }.value
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("of the main context was called by a thread other than the main one"))
  }

  @Test func `stops the process when a model of the main context is let go of elsewhere`()
    async throws
  {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      ConcurrencyCheck.isEnabled = true
      let container = try makeLibrary()
      let models = try await MainActor.run {
        container.mainContext.insert(Book(title: "Kept"))
        try container.mainContext.save()
        return Holder(try container.mainContext.fetch(FetchDescriptor<Book>()))
      }
      await Task.detached { models.value = [] }.value
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("a model of the main context was let go of by a thread other"))
  }

  @Test func `lets go of what a query shows on the main actor, whoever drops the query`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      ConcurrencyCheck.isEnabled = true
      let container = try makeLibrary()
      let queries = try await MainActor.run {
        container.mainContext.insert(Book(title: "Shown"))
        try container.mainContext.save()
        let query = QueryState<Book>()
        query.update(in: container.mainContext)
        #expect(query.elements.count == 1)
        return Holder([query])
      }
      await Task.detached { queries.value = [] }.value
      await MainActor.run {}
    }
  }

  @Test func `lets go of the main context on the main actor, whoever drops the container`()
    async throws
  {
    let (departures, continuation) = AsyncStream.makeStream(of: Bool.self)
    let containers = try await MainActor.run {
      let container = try ModelContainer(
        for: Schema([WitnessedNote.self]),
        configurations: [MemoryStore.Configuration()]
      )
      // The context holds the note for as long as it is not saved.
      container.mainContext.autosaveEnabled = false
      container.mainContext.insert(WitnessedNote(DepartureWitness(continuation)))
      return Holder([container])
    }
    await Task.detached { containers.value = [] }.value
    let isOnMainActor = await departures.first { _ in true }
    #expect(isOnMainActor == true)
  }

  /// Where a program's main is asynchronous, a thread of the pool may serve the main queue.
  @Test func `lets the main actor use its context, whatever thread that is`() async throws {
    await #expect(processExitsWith: .success) {
      ConcurrencyCheck.isEnabled = true
      let container = try makeLibrary()
      try await MainActor.run {
        container.mainContext.insert(Book(title: "Here"))
        try container.mainContext.save()
        #expect(try container.mainContext.fetch(FetchDescriptor<Book>()).count == 1)
      }
    }
  }

  @Test func `stops the process when two threads are in one context`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      ConcurrencyCheck.isEnabled = true
      let container = try makeLibrary()
      let context = ModelContext(container)
      let box = Unchecked(context)
      context.checked("waiting") {
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          box.value.insert(Book(title: "Elsewhere"))
          done.signal()
        }
        done.wait()
      }
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("while thread"))
  }

  @Test func `is no matter of threads as long as there is one at a time`() async throws {
    await #expect(processExitsWith: .success) {
      ConcurrencyCheck.isEnabled = true
      let context = ModelContext(try makeLibrary())
      let box = Unchecked(context)
      context.insert(Book(title: "Here"))
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        box.value.insert(Book(title: "There"))
        done.signal()
      }
      done.wait()
      try context.save()
    }
  }
}

/// Tells whether it goes on a thread that runs the main actor's code.
final class DepartureWitness: Sendable {
  private let continuation: AsyncStream<Bool>.Continuation

  init(_ continuation: AsyncStream<Bool>.Continuation) { self.continuation = continuation }

  deinit { continuation.yield(MainActorThread.isCurrent) }
}

@Model final class WitnessedNote {
  var text = ""
  @Transient var witness: DepartureWitness?

  init(_ witness: DepartureWitness) { self.witness = witness }
}

/// What a thread asks of a context that is another's.
private enum Misuse: CaseIterable, Codable {
  case count, identifiers, columns, enumeration, batches, model, registeredModel, rollback,
    processing
  case batchUpdate, batchDelete, transaction

  func commit(with context: ModelContext, _ identifier: PersistentIdentifier) throws {
    let all = FetchDescriptor<Book>()
    switch self {
    case .count: _ = try context.fetchCount(all)
    case .identifiers: _ = try context.fetchIdentifiers(all)
    case .columns: _ = try context.fetch(all, \.title)
    case .enumeration: try context.enumerate(all) { _ in }
    case .batches: _ = try context.fetch(all, batchSize: 10)
    case .model: _ = context.model(for: identifier)
    case .registeredModel: _ = context.registeredModel(for: identifier) as Book?
    case .rollback: context.rollback()
    case .processing: context.processPendingChanges()
    case .batchUpdate: try context.batchUpdate(Book.self, .change(\.title) { $0.uppercased() })
    case .batchDelete: try context.batchDelete(Book.self)
    case .transaction: try context.transaction {}
    }
  }
}

/// Holds what must not be shared, where others can take it away.
private final class Holder<Value>: @unchecked Sendable {
  var value: Value

  init(_ value: Value) { self.value = value }
}

/// Carries what must not be shared to where it must not be.
private struct Unchecked<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
