import Foundation
import SchedulePoints
import SwiftData
import Synchronization
import Testing

@testable import LogStore

/// The models of these tests, apart from those of others.
enum Merging {
  @Model
  final class Page {
    #Unique<Page>([\.key])
    var key: Int
    var title: String
    var note: String?
    var visits = 0
    var score = 0.0
    var small: Int8 = 0
    @Attribute(.externalStorage) var photo: Data?
    var tags: [String] = []
    var labels: Set<Int> = []
    var book: Book?

    init(key: Int, title: String = "") {
      self.key = key
      self.title = title
    }
  }

  @Model
  final class Book {
    @Relationship(deleteRule: .nullify, inverse: \Page.book) var pages: [Page] = []
    init() {}
  }

  static func container(_ policy: MergePolicy = .lastWriter) throws -> ModelContainer {
    var configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    configuration.mergePolicy = policy
    return try ModelContainer(for: Page.self, Book.self, configurations: configuration)
  }
}

private typealias Page = Merging.Page

extension ModelContext {
  fileprivate func page(_ key: Int = 1) throws -> Page {
    let found = try fetch(FetchDescriptor<Page>(predicate: #Predicate { $0.key == key }))
    return try #require(found.first)
  }
}

@Suite struct `A save of what another has changed` {
  let container: ModelContainer
  let first: ModelContext
  let second: ModelContext

  init() throws {
    container = try Merging.container()
    first = ModelContext(container)
    second = ModelContext(container)
    let page = Page(key: 1, title: "read")
    page.visits = 5
    first.insert(page)
    try first.save()
    first.mergePolicy = .throw
    second.mergePolicy = .throw
  }

  private func refusal(_ context: ModelContext) throws -> [MergeConflict] {
    do {
      try context.save()
    } catch let error as SwiftDataError {
      let cause = try #require(error.underlyingError as? MergeConflicts)
      #expect(error == .modelValidationFailure)
      // Once, though the cause says it as well.
      if let first = cause.conflicts.first {
        #expect("\(error)".ranges(of: first.description).count == 1)
      }
      return cause.conflicts
    }
    return []
  }

  private func stored() throws -> Page { try ModelContext(container).page() }

  @Test func `throws an error with both versions, and stays pending`() throws {
    let fresh = ModelContext(container)
    fresh.mergePolicy = .throw
    let page = try fresh.page()
    page.title = "mine"
    page.note = "new"
    let other = try second.page()
    other.title = "theirs"
    try second.save()
    let conflict = try #require(refusal(fresh).first)
    #expect(conflict.model == page.persistentModelID && conflict.property == "title")
    #expect(conflict.read as? String == "read" && conflict.isReadKnown)
    #expect(conflict.stored as? String == "theirs" && conflict.own as? String == "mine")
    #expect("\(conflict)".contains("read as read, stored is theirs, to be saved is mine"))
    #expect(page.title == "mine" && fresh.hasChanges)
    #expect(try stored().note == nil)
    // It is asked again, and so it is refused again; overwriting is a decision.
    #expect(try refusal(fresh).count == 1)
    try fresh.save(mergePolicy: .keepOwn)
    #expect(try stored().title == "mine" && stored().note == "new")
  }

  @Test func `goes through if the other save set other attributes`() throws {
    let page = try first.page()
    page.title = "mine"
    let other = try second.page()
    other.visits = 9
    try second.save()
    try first.save()
    #expect(try stored().title == "mine" && stored().visits == 9)
    #expect(page.visits == 9)
  }

  @Test func `is refused for a value that was set to what it was`() throws {
    try first.page().visits += 1
    try second.page().visits += 1
    try second.save()
    #expect(try refusal(first).map(\.property) == ["visits"])
  }

  @Test(arguments: [false, true])
  func `is refused where the value was set before anything of the model was read`(
    isMember: Bool
  ) throws {
    let identifier = try stored().persistentModelID
    let book = Merging.Book()
    second.insert(book)
    book.pages = [try second.page()]
    try second.save()
    // Without a policy when the value is set.
    let context = ModelContext(container)
    let books = try context.fetch(FetchDescriptor<Merging.Book>())
    let page = isMember ? books.first?.pages.first : context.model(for: identifier) as? Page
    let set = try #require(page)
    set.title = "mine"
    try second.page().title = "theirs"
    try second.save()
    #expect(throws: SwiftDataError.self) { try context.save(mergePolicy: .throw) }
    try context.save(mergePolicy: .keepStored)
    #expect(try stored().title == "theirs")
  }

  @Test func `is not let through by a fetch between change and save`() throws {
    let page = try first.page()
    page.title = "mine"
    try second.page().title = "theirs"
    try second.save()
    _ = try first.page()
    page.note = "later"
    try second.page().note = "theirs, too"
    try second.save()
    let found = try refusal(first)
    #expect(Set(found.map(\.property)) == ["title", "note"])
    #expect(found.first { $0.property == "title" }?.read as? String == "read")
    #expect(try #require(found.first { $0.property == "note" }).read == nil)
  }

  @Test func `compares with what the context itself saved last`() throws {
    let page = try first.page()
    page.visits = 6
    try first.save()
    page.visits += 1
    try first.save()
    #expect(page.visits == 7)
    try second.page().visits = 50
    try second.save()
    page.visits = 8
    let conflict = try #require(refusal(first).first)
    #expect(conflict.read as? Int == 7 && conflict.stored as? Int == 50)
    first.rollback()
    #expect(page.visits == 50)
  }

  @Test func `takes over what is stored if that is to stay`() throws {
    first.mergePolicy = .keepStored
    let page = try first.page()
    page.title = "mine"
    page.note = "mine"
    try second.page().title = "theirs"
    try second.save()
    try first.save()
    #expect(page.title == "theirs" && page.note == "mine" && !first.hasChanges)
    #expect(try stored().title == "theirs" && stored().note == "mine")
    page.title = "alone"
    try second.page().title = "again"
    try second.save()
    try first.save()
    #expect(page.title == "again" && !first.hasChanges)
  }

  @Test func `asks a closure about each attribute`() throws {
    first.mergePolicy = .decide { conflict in
      switch conflict.property {
      case "title": .stored
      case "note": .own
      case "tags": .value((conflict.stored as? [String] ?? []) + (conflict.own as? [String] ?? []))
      default: .value(-1)
      }
    }
    let page = try first.page()
    let other = try second.page()
    for (page, word) in [(page, "mine"), (other, "theirs")] {
      page.title = word
      page.note = word
      page.tags = [word]
      page.visits += word.count
    }
    try second.save()
    try first.save()
    for page in [page, try stored()] {
      #expect(page.title == "theirs" && page.note == "mine" && page.visits == -1)
      #expect(page.tags == ["theirs", "mine"])
    }
  }

  @Test func `throws for a value of another type, and keeps the change`() throws {
    first.mergePolicy = .decide { _ in .value("many") }
    let page = try first.page()
    page.visits = 1
    try second.page().visits = 2
    try second.save()
    #expect(throws: SwiftDataError.modelValidationFailure) { try first.save() }
    #expect(page.visits == 1 && first.hasChanges)
  }

  @Test func `leaves relationships, new models and deletes to their own rules`() throws {
    let book = Merging.Book()
    first.insert(book)
    let page = try first.page()
    page.book = book
    try first.save()
    let other = try second.page()
    other.book = nil
    try second.save()
    page.book = book
    try first.save()
    let upsert = Page(key: 1, title: "upsert")
    second.insert(upsert)
    try second.save()
    #expect(try stored().title == "upsert")
    try first.page().title = "again"
    second.delete(try second.page())
    try second.save()
    #expect(throws: SwiftDataError.modelValidationFailure) { try first.save() }
  }

  @Test func `compares values that have files of their own`() throws {
    let page = try first.page()
    page.photo = Data(repeating: 1, count: 1 << 20)
    try first.save()
    let other = try second.page()
    #expect(other.photo?.first == 1)
    other.photo = Data(repeating: 2, count: 1 << 20)
    try second.save()
    page.photo = Data(repeating: 3, count: 1 << 20)
    try first.save()
    #expect(try stored().photo?.first == 3)
    let third = try second.page()
    third.photo = Data(repeating: 4, count: 10)
    page.photo = nil
    try first.save()
    #expect(try refusal(second).map(\.property) == ["photo"])
    try second.save(mergePolicy: .keepStored)
    #expect(third.photo == nil)
  }

  @Test func `is not in the way of batches, nor they of it`() throws {
    let page = try first.page()
    page.title = "mine"
    try second.batchUpdate(Page.self, .set(\.title, to: "batch"))
    #expect(try stored().title == "batch")
    #expect(try refusal(first).map { $0.stored as? String } == ["batch"])
  }

  @Test func `may be given a policy of its own`() throws {
    let plain = ModelContext(container)
    let page = try plain.page()
    page.title = "mine"
    try second.page().title = "theirs"
    try second.save()
    #expect(throws: SwiftDataError.modelValidationFailure) { try plain.save(mergePolicy: .throw) }
    #expect(plain.mergePolicy == nil)
    try plain.save()
    #expect(try stored().title == "mine")
    // Of what it has saved without a policy, and not read since, it does not know what it had read.
    let saver = ModelContext(container)
    let saved = try saver.page()
    saved.title = "one"
    try saver.save()
    saved.title = "two"
    #expect(throws: SwiftDataError.modelValidationFailure) {
      try saver.save(mergePolicy: .keepStored)
    }
    #expect(saved.title == "two")
    try saver.save(mergePolicy: .decide { $0.isReadKnown ? .stored : .own })
    #expect(try stored().title == "two")
  }

  /// What the context has done with the model before others save it.
  enum Former: CaseIterable { case fetched, read, saved, changed }

  /// A merge reads models again, with the values that the app is shown from then on.
  @Test(arguments: Former.allCases)
  func `is refused after a merge`(former: Former) throws {
    let plain = ModelContext(container)
    plain.automaticallyMergesChanges = true
    let page = try plain.page()
    if former != .fetched { #expect(page.title == "read") }
    if former == .saved || former == .changed { page.note = "own" }
    if former == .saved { try plain.save() }
    try second.page().visits = 9
    try second.save()
    plain.processPendingChanges()
    page.title = "mine"
    try second.page().title = "theirs"
    try second.save()
    let error = #expect(throws: SwiftDataError.self) { try plain.save(mergePolicy: .throw) }
    let conflicts = try #require(error?.underlyingError as? MergeConflicts).conflicts
    #expect(conflicts.map(\.property) == ["title"])
    #expect(conflicts.first?.isReadKnown == true)
    #expect(conflicts.first?.read as? String == "read")
    #expect(conflicts.first?.stored as? String == "theirs")
    #expect(try page.title == "mine" && stored().title == "theirs")
    try plain.save(mergePolicy: .decide { $0.isReadKnown ? .own : .stored })
    #expect(try stored().title == "mine" && stored().visits == 9)
  }

  @Test(arguments: [false, true])
  func `knows what was read after a merge, or after a rollback`(isRolledBack: Bool) throws {
    let plain = ModelContext(container)
    plain.automaticallyMergesChanges = true
    let page = try plain.page()
    try second.page().visits = 9
    try second.save()
    plain.processPendingChanges()
    if isRolledBack {
      page.note = "given up"
      plain.rollback()
    } else {
      #expect(page.visits == 9)
    }
    page.title = "mine"
    try plain.save(mergePolicy: .throw)
    #expect(try stored().title == "mine")
  }

  /// What a rollback takes back, and whether the context has a policy of its own.
  @Test(arguments: [false, true], [false, true])
  func `is refused for what was shown before a rollback`(isDeleted: Bool, hasPolicy: Bool) throws {
    let context = hasPolicy ? first : ModelContext(container)
    let page = try context.page()
    #expect(page.visits == 5)
    if isDeleted { context.delete(page) } else { page.visits = 1 }
    context.rollback()
    try second.page().visits = 20
    try second.save()
    page.visits = 6
    let error = #expect(throws: SwiftDataError.self) { try context.save(mergePolicy: .throw) }
    let conflict = try #require((error?.underlyingError as? MergeConflicts)?.conflicts.first)
    #expect(conflict.property == "visits" && conflict.isReadKnown)
    #expect(conflict.read as? Int == 5 && conflict.stored as? Int == 20)
    #expect(try page.visits == 6 && stored().visits == 20)
    // Setting it once more is a decision.
    context.rollback()
    page.visits = 7
    try context.save(mergePolicy: .throw)
    #expect(try stored().visits == 7)
  }

  @Test func `takes what its refusal reported, and no more, for shown after a rollback`() throws {
    let page = try first.page()
    #expect(page.visits == 5 && page.title == "read")
    page.visits = 6
    let other = try second.page()
    other.visits = 20
    other.title = "theirs"
    try second.save()
    #expect(try refusal(first).map(\.property) == ["visits"])
    first.rollback()
    page.visits = 7
    page.title = "mine"
    #expect(try refusal(first).map(\.property) == ["title"])
  }

  @Test func `compares only what is set with what was shown before a rollback`() throws {
    let plain = ModelContext(container)
    let page = try plain.page()
    page.note = "given up"
    plain.rollback()
    try second.page().visits = 20
    try second.save()
    page.title = "mine"
    // Reading shows what is stored now.
    #expect(page.visits == 20)
    page.visits += 1
    try plain.save(mergePolicy: .throw)
    #expect(try stored().title == "mine" && stored().visits == 21)
  }

  @Test func `is refused where others save after the rollback of a model that was merged`() throws {
    let plain = ModelContext(container)
    plain.automaticallyMergesChanges = true
    let page = try plain.page()
    #expect(page.title == "read")
    try second.page().visits = 9
    try second.save()
    plain.processPendingChanges()
    page.note = "given up"
    plain.rollback()
    try second.page().title = "theirs"
    try second.save()
    page.title = "mine"
    #expect(throws: SwiftDataError.modelValidationFailure) { try plain.save(mergePolicy: .throw) }
    #expect(try stored().title == "theirs")
  }

  @Test func `is refused where another model has taken the place of what was read`() throws {
    let plain = ModelContext(container)
    let page = try plain.page()
    #expect(page.visits == 5)
    plain.insert(Page(key: 1, title: "upsert"))
    try plain.save()
    try second.page().visits = 20
    try second.save()
    page.visits = 6
    let error = #expect(throws: SwiftDataError.self) { try plain.save(mergePolicy: .throw) }
    let conflicts = try #require(error?.underlyingError as? MergeConflicts).conflicts
    #expect(conflicts.map(\.property) == ["visits"] && conflicts.first?.isReadKnown == false)
    #expect(try stored().visits == 20)
    plain.rollback()
    #expect(page.title == "upsert")
    page.visits = 6
    try plain.save(mergePolicy: .throw)
    #expect(try stored().visits == 6)
  }

  @Test func `goes by the policy of the configuration`() async throws {
    let container = try Merging.container(.throw)
    let first = ModelContext(container)
    first.insert(Page(key: 1))
    try first.save()
    let page = try first.page()
    page.title = "mine"
    try await container.write { context in try context.page().title = "theirs" }
    #expect(try refusal(first).map(\.property) == ["title"])
    first.mergePolicy = .keepStored
    try first.save()
    #expect(page.title == "theirs")
  }

  @Test(arguments: [SchedulePoint.beforeClaim, .beforeCommit])
  func `meets one that comes between its last look and its commit`(at point: SchedulePoint) throws {
    try first.page().title = "mine"
    let container = container
    // Tests beside this one come to the point, too.
    let thread = UInt(bitPattern: Int(bitPattern: pthread_self()))
    let isDue = Mutex(true)
    let hook = ScheduleHook { reached in
      guard reached == point, thread == UInt(bitPattern: Int(bitPattern: pthread_self())),
        isDue.withLock({ due in
          defer { due = false }; return due
        })
      else {
        return
      }
      do {
        let other = ModelContext(container)
        try other.page().title = "theirs"
        try other.save()
      } catch {
        Issue.record(error)
      }
    }
    defer { hook.remove() }
    #expect(try refusal(first).map(\.property) == ["title"])
    #expect(isDue.withLock { !$0 }, "\(point) was never reached")
    #expect(try stored().title == "theirs")
  }

  @Test func `takes the value that was read for no conflict, whatever its bytes`() throws {
    let page = try first.page()
    page.labels = Set(0..<40)
    page.score = 0
    try first.save()
    let reader = ModelContext(container)
    reader.mergePolicy = .throw
    let read = try reader.page()
    // Sets are stored in the order in which they happen to be.
    var same = Set<Int>(minimumCapacity: 5000)
    for label in (0..<40).reversed() { same.insert(label) }
    let other = try second.page()
    other.labels = same
    other.score = -0.0
    try second.save()
    read.labels = [1]
    read.score = 2
    try reader.save()
    #expect(try stored().labels == [1] && stored().score == 2)
    #expect(read.labels == [1])
    let late = try second.page()
    late.labels = [2]
    try second.save()
    read.labels = [3]
    #expect(try refusal(reader).map(\.property) == ["labels"])
  }

  // MARK: Adding

  @Test func `adds to what is stored by then`() throws {
    let page = try first.page()
    let other = try second.page()
    page.add(2, to: \.visits)
    page.add(1, to: \.visits)
    other.add(10, to: \.visits)
    other.add(0.5, to: \.score)
    #expect(page.visits == 8 && other.visits == 15)
    try second.save()
    try first.save()
    #expect(page.visits == 18)
    page.add(-8, to: \.visits)
    try first.save()
    #expect(try stored().visits == 10 && stored().score == 0.5)
  }

  @Test func `adds whatever the policy, and to new models, too`() throws {
    let plain = ModelContext(container)
    let page = try plain.page()
    page.add(1, to: \.visits)
    try plain.save()
    page.add(1, to: \.visits)
    try second.page().visits = 20
    try second.save()
    page.add(1, to: \.visits)
    try plain.save()
    #expect(try stored().visits == 22)
    let new = Page(key: 2)
    new.add(3, to: \.visits)
    plain.insert(new)
    new.add(4, to: \.visits)
    try plain.save()
    #expect(try ModelContext(container).page(2).visits == 7)
  }

  @Test func `sets what was set before or after adding`() throws {
    let plain = ModelContext(container)
    let page = try plain.page()
    page.add(1, to: \.visits)
    page.visits = 100
    try second.page().visits = 20
    try second.save()
    try plain.save()
    #expect(try stored().visits == 100)
    page.visits = 7
    page.add(1, to: \.visits)
    try second.page().visits = 20
    try second.save()
    try plain.save()
    #expect(try stored().visits == 8)
    page.add(1, to: \.visits)
    plain.rollback()
    #expect(page.visits == 8 && !plain.hasChanges)
  }

  @Test func `throws when an addition overflows`() throws {
    let page = try first.page()
    page.add(100, to: \.small)
    try second.page().small = 100
    try second.save()
    #expect(throws: SwiftDataError.modelValidationFailure) { try first.save() }
    #expect(try stored().small == 100)
  }

  @Test func `says at the next save that the sum does not fit the object`() throws {
    let page = try first.page()
    page.small = 100
    try first.save()
    page.add(100, to: \.small)
    #expect(page.small == 100)
    #expect(throws: SwiftDataError.modelValidationFailure) { try first.save() }
    page.add(27, to: \.small)
    try first.save()
    #expect(try stored().small == 127)
  }

  @Test func `takes off what was added when that is undone, and nothing else`() throws {
    let plain = ModelContext(container)
    let manager = UndoManager()
    plain.undoManager = manager
    let page = try plain.page()
    let before = try stored().visits
    page.add(5, to: \.visits)
    plain.processPendingChanges()
    manager.undo()
    #expect(page.visits == before && !plain.hasChanges)
    manager.redo()
    try second.page().add(7, to: \.visits)
    try second.save()
    try plain.save()
    #expect(try stored().visits == before + 12)
    try second.page().add(100, to: \.visits)
    try second.save()
    manager.undo()
    try plain.save()
    #expect(try stored().visits == before + 107)
    manager.redo()
    try plain.save()
    #expect(try stored().visits == before + 112)
  }
}
