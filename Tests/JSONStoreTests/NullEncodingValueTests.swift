import JSONStore
import SwiftData
import Testing

/// A value that may encode itself as null, and is not nil.
enum LooseValue: Codable, Hashable, Sendable {
  case null
  case text(String)

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    self = container.decodeNil() ? .null : .text(try container.decode(String.self))
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .text(let value): try container.encode(value)
    }
  }
}

@Model final class LooseEvent {
  var payload: LooseValue = LooseValue.text("default")
  var detail: LooseValue?

  init(_ payload: LooseValue) { self.payload = payload }
}

@Suite struct `A value that encodes itself as null, in an archive` {
  @Test(arguments: [LooseValue.null, .text("a")])
  func `is kept where the property has a default`(value: LooseValue) throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "events.json")
    let container = try ModelContainer(
      for: Schema([LooseEvent.self]),
      configurations: [JSONStoreConfiguration(name: "events", url: file)]
    )
    let context = ModelContext(container)
    context.insert(LooseEvent(value))
    try context.save()
    let read = try #require(
      try ModelContext(container).fetch(FetchDescriptor<LooseEvent>()).first
    )
    #expect(read.payload == value)
    #expect(read.detail == nil)
  }
}
