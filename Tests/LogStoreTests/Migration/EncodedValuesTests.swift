import Foundation
import LogStore
import SwiftData
import Testing

// A composite and bytes look alike in a file of their own.

private struct Settings: Codable, Hashable {
  var name = ""
  var size = 0
}

private enum Composites {
  @Model final class Page {
    var settings: Settings
    init(_ settings: Settings) { self.settings = settings }
  }
  enum External {
    @Model final class Page {
      @Attribute(.externalStorage, .codable) var settings: Settings
      init(_ settings: Settings) { self.settings = settings }
    }
  }
}

private enum Bytes {
  @Model final class Page {
    @Attribute(.externalStorage) var settings: Data
    init(_ settings: Data) { self.settings = settings }
  }
}

@Suite struct `Values with files of their own` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ model: any PersistentModel.Type) throws -> ModelContext {
    let configuration = LogStoreConfiguration(url: folder.url.appending(path: "pages.store"))
    return ModelContext(
      try ModelContainer(for: Schema([model]), configurations: [configuration])
    )
  }

  @Test func `are not composites that become bytes`() throws {
    do {
      let context = try open(Composites.Page.self)
      context.insert(Composites.Page(Settings(name: "a", size: 1)))
      try context.save()
    }
    let error = #expect(throws: LogStoreError.self) { try open(Bytes.Page.self) }
    #expect("\(error, default: "")".contains("Page.settings: the store holds structured values"))
    let pages = try open(Composites.Page.self).fetch(FetchDescriptor<Composites.Page>())
    #expect(pages.map(\.settings) == [Settings(name: "a", size: 1)])
  }

  @Test(arguments: [
    Composites.Page.self as any PersistentModel.Type, Composites.External.Page.self,
  ])
  func `are not bytes that become composites`(model: any PersistentModel.Type) throws {
    do {
      let context = try open(Bytes.Page.self)
      context.insert(Bytes.Page(Data([1, 2, 3])))
      try context.save()
    }
    let error = #expect(throws: LogStoreError.self) { try open(model) }
    #expect("\(error, default: "")".contains("Page.settings: the store holds bytes values"))
    let pages = try open(Bytes.Page.self).fetch(FetchDescriptor<Bytes.Page>())
    #expect(pages.map(\.settings) == [Data([1, 2, 3])])
  }
}
