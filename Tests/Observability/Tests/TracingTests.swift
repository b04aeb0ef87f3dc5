import Foundation
import InMemoryTracing
import SwiftData
import Testing
import Tracing

@Suite final class `A container whose store is traced` {
  private let url = FileManager.default.temporaryDirectory
    .appending(path: "traced-\(UUID().uuidString)")
  private let tracer = InMemoryTracer()

  deinit { try? FileManager.default.removeItem(at: url) }

  private func makeContainer() throws -> ModelContainer {
    var configuration = LogStoreConfiguration("trips", url: url, durability: .relaxed)
    configuration.tracer = tracer
    return try ModelContainer(for: Trip.self, configurations: configuration)
  }

  @Test func `opens a span for each save and fetch`() throws {
    let context = ModelContext(try makeContainer())
    context.insert(Trip(name: "Porto"))
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Trip>()).count == 1)
    #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 1)
    let spans = tracer.finishedSpans
    #expect(spans.map(\.operationName) == ["LogStore.save", "LogStore.fetch", "LogStore.fetch"])
    #expect(spans.allSatisfy { $0.attributes.get("store") == .string("trips") })
    #expect(spans.allSatisfy { $0.kind == .client && $0.errors.isEmpty })
  }

  @Test func `has its spans below the one that reads or writes`() async throws {
    let container = try makeContainer()
    try await tracer.withSpan("request") { _ in
      try await container.write { $0.insert(Trip(name: "Porto")) }
      _ = try await container.read { try $0.fetchCount(FetchDescriptor<Trip>()) }
    }
    let spans = tracer.finishedSpans
    #expect(spans.map(\.operationName) == ["LogStore.save", "LogStore.fetch", "request"])
    let request = try #require(spans.last).spanID
    #expect(spans.dropLast().allSatisfy { $0.parentSpanID == request })
  }
}
