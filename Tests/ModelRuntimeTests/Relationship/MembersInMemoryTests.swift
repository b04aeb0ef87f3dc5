import Foundation
import Testing

@testable import ModelRuntime

@Suite struct `The members of a list in memory` {
  @Test(arguments: 1...8) func `are what was appended and put back, without what was taken out`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    // Short lists are looked through, long ones are not.
    let chapters = (0..<Int.random(in: 1...300, using: &random)).map { Chapter("\($0)") }
    let list = RelatedModelsOf(chapters)
    var expected = chapters
    var outside: [Chapter] = []
    for _ in 0..<600 {
      switch Int.random(in: 0..<11, using: &random) {
      case 0, 1, 2:
        guard let index = expected.indices.randomElement(using: &random) else { continue }
        let chapter = expected.remove(at: index)
        outside.append(chapter)
        list.remove(chapter)
      case 3:
        let chapter = Chapter("new")
        expected.append(chapter)
        list.append(chapter)
      case 4:
        guard let index = outside.indices.randomElement(using: &random) else { continue }
        let chapter = outside.remove(at: index)
        expected.append(chapter)
        list.append(chapter)
      case 5:
        guard let index = outside.indices.randomElement(using: &random),
          let place = expected.indices.randomElement(using: &random)
        else { continue }
        let chapter = outside.remove(at: index)
        list.insert(chapter, at: .before(expected[place]))
        expected.insert(chapter, at: place)
      case 6:
        guard let index = outside.indices.randomElement(using: &random),
          let place = expected.indices.randomElement(using: &random)
        else { continue }
        let chapter = outside.remove(at: index)
        list.insert(chapter, at: .after(expected[place]))
        expected.insert(chapter, at: place + 1)
      case 7:
        guard let chapter = expected.popLast() else { continue }
        outside.append(chapter)
        list.remove(chapter)
      case 8:
        let index =
          Bool.random(using: &random) ? expected.indices.randomElement(using: &random) : nil
        guard let index = index ?? expected.indices.last else { continue }
        switch list.place(of: expected[index]) {
        case .end: #expect(index == expected.count - 1, "seed \(seed)")
        case .before(let next): #expect(next === expected[index + 1], "seed \(seed)")
        case .after(let previous): #expect(previous === expected[index - 1], "seed \(seed)")
        }
      case 9:
        list.letGoOfRemovals()
        #expect(list.keptCount * 3 <= max(expected.count * 4, 64 * 3), "seed \(seed)")
      default:
        if let member = expected.randomElement(using: &random) {
          #expect(list.contains(member), "seed \(seed)")
        }
        if let other = outside.randomElement(using: &random) {
          #expect(!list.contains(other), "seed \(seed)")
        }
      }
      if Int.random(in: 0..<10, using: &random) == 0 {
        #expect(list.members == expected, "seed \(seed)")
      }
    }
    #expect(list.members == expected, "seed \(seed)")
    #expect(list.count == expected.count && list.keptCount == expected.count, "seed \(seed)")
  }

  @Test func `are gone through a few times, however many replacements are undone`() throws {
    let context = ModelContext(try makeLibrary())
    let book = Book(title: "long")
    book.chapters = (0..<1000).map { Chapter("\($0)") }
    context.insert(book)
    try context.save()
    let property = try #require(book._$state.descriptor.property(named: "chapters"))
    let list = try #require(book._$state.relatedModels(property))
    let undo = UndoManager()
    undo.groupsByEvent = false
    context.undoManager = undo
    var former = list.stepCount
    /// The number of times that all members were gone through since the last call.
    func passes() -> Int {
      #expect(book._$state.relatedModels(property) === list)
      defer { former = list.stepCount }
      return (list.stepCount - former) / 1000
    }
    undo.beginUndoGrouping()
    for (number, chapter) in book.chapters.prefix(200).enumerated() {
      context.delete(chapter)
      Chapter("new \(number)").book = book
    }
    undo.endUndoGrouping()
    #expect(passes() <= 10)
    let changed = book.chapters.map(\.heading)
    #expect(changed == (200..<1000).map { "\($0)" } + (0..<200).map { "new \($0)" })
    undo.undo()
    #expect(passes() <= 10)
    #expect(book.chapters.map(\.heading) == (0..<1000).map { "\($0)" })
    undo.redo()
    #expect(passes() <= 10)
    #expect(book.chapters.map(\.heading) == changed)
  }

  @Test func `are not gone through for each that is the first, with an undo manager`() throws {
    let context = ModelContext(try makeLibrary())
    let book = Book(title: "long")
    book.chapters = (0..<1000).map { Chapter("\($0)") }
    context.insert(book)
    let property = try #require(book._$state.descriptor.property(named: "chapters"))
    let list = try #require(book._$state.relatedModels(property))
    context.undoManager = UndoManager()
    let former = list.stepCount
    for _ in 0..<200 { book.chapters.removeFirst() }
    #expect(list.stepCount - former <= 5000)
    context.undoManager?.undo()
    #expect(book.chapters.map(\.heading) == (0..<1000).map { "\($0)" })
  }

  @Test func `are right after saves that take them out one by one`() throws {
    let context = ModelContext(try makeLibrary())
    let (long, other) = (Book(title: "long"), Book(title: "other"))
    long.chapters = (0..<1000).map { Chapter("\($0)") }
    context.insert(long)
    context.insert(other)
    try context.save()
    let property = try #require(long._$state.descriptor.property(named: "chapters"))
    let list = try #require(long._$state.relatedModels(property))
    for chapter in long.chapters.prefix(200) {
      chapter.book = other
      try context.save()
    }
    #expect(long.chapters.map(\.heading) == (200..<1000).map { "\($0)" })
    #expect(other.chapters.map(\.heading) == (0..<200).map { "\($0)" })
    #expect(list.keptCount == 800)
    for chapter in long.chapters {
      chapter.book = other
      try context.save()
    }
    #expect(list.keptCount <= 64)
  }
}
