import Foundation
import SwiftData
import Testing

@testable import Todo

@Suite struct `The example Todo` {
  private let list: TodoList

  init() throws {
    list = TodoList(
      try ModelContainer(
        for: Todo.self,
        Label.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
      )
    )
  }

  private let friday = Date(timeIntervalSince1970: 1_800_000_000)

  @Test func `lists what is to be done, the most urgent first`() throws {
    _ = try list.add("someday")
    _ = try list.add("friday", due: friday)
    _ = try list.add("thursday", due: friday - 86_400, labels: ["home", "home"])
    #expect(try list.todos().map(\.title) == ["thursday", "friday", "someday"])
    #expect(try list.todos(.init(label: "home")).map(\.title) == ["thursday"])
    #expect(try list.todos(.init(dueBefore: friday)).map(\.title) == ["thursday"])
    #expect(try list.todos(.init(label: "work")).isEmpty)
  }

  @Test func `moves what is done, and names what is missing`() throws {
    let first = try list.add("first", labels: ["home"])
    let (done, missing) = try list.finish([first.number, 7], at: friday)
    #expect(done.map(\.title) == ["first"])
    #expect(missing == [7])
    #expect(try list.todos().isEmpty)
    #expect(try list.todos(.init(isDone: true)).map(\.done) == [friday])
    #expect(try list.labels().map { "\($0.name) \($0.count)" } == ["home 0"])
  }

  @Test func `removes labels with their last todo`() throws {
    let first = try list.add("first", labels: ["home", "garden"])
    let second = try list.add("second", labels: ["home"])
    #expect(try list.remove([first.number]).count == 1)
    #expect(try list.labels().map(\.name) == ["home"])
    #expect(try list.remove([second.number, second.number + 1]).missing == [second.number + 1])
    #expect(try list.labels().isEmpty)
  }
}
