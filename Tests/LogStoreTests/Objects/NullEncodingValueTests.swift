import Foundation
import SwiftData
import Testing

/// A value that may encode itself as null, and is not nil.
enum LooseValue: Codable, Hashable, Sendable {
  case null
  case bool(Bool)
  case text(String)
  case list([LooseValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else {
      self = .list(try container.decode([LooseValue].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    case .list(let values): try container.encode(values)
    }
  }
}

@Model final class LooseEvent {
  var number: Int
  var payload: LooseValue = LooseValue.text("default")
  var detail: LooseValue?
  @Attribute(.externalStorage, .codable) var attachment: LooseValue = LooseValue.text("default")

  init(_ number: Int) { self.number = number }
}

@Suite struct `A value that encodes itself as null` {
  private let folder: TemporaryFolder
  private let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = folder.url.appending(path: "events.store")
  }

  private func context() throws -> ModelContext {
    ModelContext(
      try ModelContainer(for: LooseEvent.self, configurations: ModelConfiguration(url: url))
    )
  }

  private func event(_ context: ModelContext) throws -> LooseEvent {
    try #require(try context.fetch(FetchDescriptor<LooseEvent>()).first)
  }

  @Test(arguments: [LooseValue.null, .bool(false), .list([.null, .text("a")])])
  func `is kept, new or changed, where the property has a default`(value: LooseValue) throws {
    do {
      let context = try context()
      let new = LooseEvent(1)
      new.payload = value
      new.attachment = value
      context.insert(new)
      try context.save()
      let other = ModelContext(context.container)
      let read = try event(other)
      #expect([read.payload, read.attachment] == [value, value])
      read.payload = .text("other")
      read.attachment = .text("other")
      try other.save()
      read.payload = value
      read.attachment = value
      try other.save()
    }
    let read = try event(try context())
    #expect([read.payload, read.attachment] == [value, value])
    #expect(read.detail == nil)
  }

  @Test func `is what a predicate compares`() throws {
    let context = try context()
    let new = LooseEvent(1)
    new.payload = .null
    context.insert(new)
    try context.save()
    let (null, text) = (LooseValue.null, LooseValue.text("default"))
    let other = ModelContext(context.container)
    let isNull = FetchDescriptor<LooseEvent>(predicate: #Predicate { $0.payload == null })
    let isDefault = FetchDescriptor<LooseEvent>(predicate: #Predicate { $0.payload == text })
    #expect(try other.fetchCount(isNull) == 1)
    #expect(try other.fetchCount(isDefault) == 0)
  }

  @Test func `is nil in a property that may be nil`() throws {
    let context = try context()
    let new = LooseEvent(1)
    new.detail = .null
    context.insert(new)
    try context.save()
    #expect(try event(ModelContext(context.container)).detail == nil)
  }

  @Test func `is nil in a property that may be nil where a batch sets it, too`() throws {
    let context = try context()
    let new = LooseEvent(1)
    new.detail = .text("a")
    context.insert(new)
    try context.save()
    let batch = ModelContext(context.container)
    try batch.batchUpdate(LooseEvent.self, .set(\.detail, to: LooseValue?.some(.null)))
    let other = ModelContext(context.container)
    let isNil = FetchDescriptor<LooseEvent>(predicate: #Predicate { $0.detail == nil })
    #expect(try other.fetchCount(isNil) == 1)
    #expect(try event(other).detail == nil)
  }
}
