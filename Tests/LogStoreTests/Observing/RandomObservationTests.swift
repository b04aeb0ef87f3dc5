import Foundation
import LogEngineTestSupport
import ModelRuntime
import SwiftData
import Testing

@Suite struct `Observers after any sequence of changes` {
  @Test(arguments: 0..<24 / Thoroughness.stride)
  func `show what a fetch finds, and have notified their observer`(seed: Int) throws {
    var world = try World(seed: UInt64(seed))
    for step in 0..<160 {
      let place = "seed \(seed), step \(step): \(try world.step())"
      // Now and then many changes come together.
      if world.chance.next(3) > 0 { try world.check(place) }
      if step % 7 == 0 { try world.follow(place) }
    }
    try world.check("seed \(seed), at the end")
    try world.follow("seed \(seed), at the end")
  }
}

/// Two contexts that change shelves and volumes at random, and observers of the first.
private struct World {
  var chance: Chance
  let container: ModelContainer
  let context: ModelContext
  let sibling: ModelContext
  let subjects: [any Subject]

  init(seed: UInt64) throws {
    chance = Chance(seed: seed)
    container = try makeShelves()
    context = ModelContext(container)
    sibling = ModelContext(container)
    if seed % 2 == 0 { context.undoManager = UndoManager() }
    let shelf = Shelf("0")
    sibling.insert(shelf)
    try sibling.save()
    let id = shelf.persistentModelID
    for _ in 0..<chance.next(60) { sibling.insert(chance.volume()) }
    try sibling.save()
    context.insert(chance.volume())
    func cut(
      _ predicate: Predicate<Volume>? = nil,
      _ sort: [SortDescriptor<Volume>] = [],
      limit: Int? = nil,
      offset: Int? = nil
    ) -> FetchDescriptor<Volume> {
      var descriptor = FetchDescriptor(predicate: predicate, sortBy: sort)
      descriptor.fetchLimit = limit
      descriptor.fetchOffset = offset
      return descriptor
    }
    var saved = FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)])
    saved.includePendingChanges = false
    let long = #Predicate<Volume> { $0.pages > 2 }
    let titled: [SortDescriptor<Volume>] = [SortDescriptor(\.due), SortDescriptor(\.title)]
    let observed = context
    func plain(
      _ predicate: Predicate<Volume>? = nil,
      _ sort: [SortDescriptor<Volume>] = []
    ) throws -> any Subject {
      try Plain(FetchDescriptor(predicate: predicate, sortBy: sort), observed)
    }
    subjects = [
      try plain(),
      try plain(long, [SortDescriptor(\.pages, order: .reverse)]),
      try plain(long, titled),
      try plain(nil, [SortDescriptor(\.title, comparator: .localizedStandard)]),
      try plain(nil, [SortDescriptor(\.weight), SortDescriptor(\.genre, order: .reverse)]),
      try plain(#Predicate { $0.shelf?.name == "1" }),
      try plain(#Predicate { $0.shelf?.persistentModelID == id }, titled),
      try plain(#Predicate { $0.shelf == nil }),
      try plain(#Predicate { $0.shelf?.volumes.contains { $0.pages > 5 } ?? false }),
      try plain(nil, [SortDescriptor(\.shelf?.name), SortDescriptor(\.pages)]),
      try Plain(cut(nil, [SortDescriptor(\.pages)], limit: 5, offset: 1), context),
      try Plain(cut(limit: 1), context),
      try Plain(cut(long, titled, limit: 3, offset: 2), context),
      try Plain(cut(nil, [SortDescriptor(\.pages, order: .reverse)], offset: 4), context),
      try Plain(cut(#Predicate { $0.shelf?.name == "1" }, titled, limit: 2), context),
      try Plain(saved, context),
      try Sectioned([SortDescriptor(\.genre), SortDescriptor(\.pages)], context),
      try Sectioned([SortDescriptor(\.pages)], context),
      try Sectioned([], context),
      try Sectioned([SortDescriptor(\.pages)], limit: 6, offset: 1, context),
    ]
  }

  func check(_ place: String) throws {
    // Some are read before, and thus without, a fetch of the context.
    for subject in subjects { subject.read() }
    for (number, subject) in subjects.enumerated() {
      try subject.check("\(place), subject \(number)")
    }
    for context in [context, sibling] { #expect(context.invariantViolations() == [], "\(place)") }
  }

  /// Has consumers that have not looked for a while do so, as one that is slow.
  func follow(_ place: String) throws {
    for (number, subject) in subjects.enumerated() {
      try subject.follow("\(place), subject \(number), slowly")
    }
  }

  // MARK: Changing

  mutating func step() throws -> String {
    let own = chance.next(4) > 0
    let context = own ? self.context : sibling
    let name = own ? "here" : "there"
    switch chance.next(20) {
    case 0...3:
      context.insert(chance.volume())
      return "insert \(name)"
    case 4:
      context.insert(Shelf("\(chance.next(3))"))
      return "insert a shelf \(name)"
    case 5...10: return try "\(change(context)) \(name)"
    case 11:
      guard let shelf = try pick(Shelf.self, context) else { return "nothing" }
      shelf.name = "\(chance.next(3))"
      return "rename a shelf \(name)"
    case 12:
      guard let volume = try pick(Volume.self, context) else { return "nothing" }
      context.delete(volume)
      return "delete \(name)"
    case 13:
      guard chance.next(3) == 0, let shelf = try pick(Shelf.self, context) else {
        return "nothing"
      }
      context.delete(shelf)
      return "delete a shelf \(name)"
    case 14:
      let pages = chance.next(8)
      guard chance.next(4) == 0 else { return "nothing" }
      try context.delete(model: Volume.self, where: #Predicate { $0.pages == pages })
      return "delete many \(name)"
    case 15, 16:
      do { try context.save() } catch { context.rollback() }
      return "save \(name)"
    case 17:
      guard chance.next(3) == 0 else { return "nothing" }
      context.rollback()
      return "roll back \(name)"
    case 18:
      context.processPendingChanges()
      return "end of the group \(name)"
    default:
      context.processPendingChanges()
      guard let manager = context.undoManager else { return "nothing" }
      if chance.next(2) == 0, manager.canUndo { manager.undo() } else { manager.redo() }
      return "undo or redo"
    }
  }

  private mutating func change(_ context: ModelContext) throws -> String {
    guard let volume = try pick(Volume.self, context) else { return "nothing" }
    switch chance.next(7) {
    case 0: volume.title = chance.text()
    case 1: volume.pages = chance.next(8)
    case 2: volume.due = chance.date()
    case 3: volume.genre = chance.genre()
    case 4: volume.weight = Double(chance.next(4))
    case 5: volume.shelf = chance.next(3) == 0 ? nil : try pick(Shelf.self, context)
    default:
      try pick(Shelf.self, context)?.volumes.append(volume)
      return "append"
    }
    return "change"
  }

  private mutating func pick<M: PersistentModel>(
    _: M.Type,
    _ context: ModelContext
  ) throws -> M? {
    let all = try context.fetch(FetchDescriptor<M>())
    return all.isEmpty ? nil : all[chance.next(all.count)]
  }
}

// MARK: What is observed

/// An observer, and the fetch it has to agree with.
private protocol Subject {
  func read()
  func check(_ place: String) throws
  func follow(_ place: String) throws
}

/// Whether everything that was to be seen changed only after it was told of.
private final class Witness {
  private var notices = Notices()
  private var seen: [ObjectIdentifier]?

  func look(_ place: String, _ read: () -> [ObjectIdentifier]) {
    let before = notices
    notices = Notices()
    let now = notices.track(read)
    if let seen, seen != now { #expect(before.count == 1, "\(place) came without notice") }
    seen = now
  }
}

private struct Plain: Subject {
  let descriptor: FetchDescriptor<Volume>
  let observer: ResultsObserver<Volume, Never>
  private let witness = Witness()
  private let replica: Replica<Never>
  private let slowReplica: Replica<Never>

  init(_ descriptor: FetchDescriptor<Volume>, _ context: ModelContext) throws {
    self.descriptor = descriptor
    observer = try ResultsObserver(fetchDescriptor: descriptor, modelContext: context)
    replica = Replica(observer)
    slowReplica = Replica(observer)
  }

  func read() { _ = observer.results.count }
  func follow(_ place: String) throws {
    try slowReplica.follow(observer, place)
  }

  func check(_ place: String) throws {
    witness.look(place) { observer.results.map(ObjectIdentifier.init) }
    let found = try observer.modelContext.fetch(descriptor)
    #expect(
      observer.results.map(\.summary) == found.map(\.summary),
      "\(place): \(descriptor.predicate.debugDescription) \(descriptor.sortBy)"
    )
    #expect(observer.results.elementsEqual(found, by: ===), "\(place)")
    if let last = found.last {
      #expect(
        observer.indexPath(for: last) == IndexPath(indexes: [0, found.count - 1]),
        "\(place)"
      )
    }
    #expect(observer.fetchError == nil)
    try replica.follow(observer, place)
  }
}

private struct Sectioned: Subject {
  let descriptor: FetchDescriptor<Volume>
  let observer: ResultsObserver<Volume, String>
  private let witness = Witness()
  private let replica: Replica<String>
  private let slowReplica: Replica<String>

  init(
    _ sort: [SortDescriptor<Volume>],
    limit: Int? = nil,
    offset: Int? = nil,
    _ context: ModelContext
  ) throws {
    var descriptor = FetchDescriptor(sortBy: sort)
    descriptor.fetchLimit = limit
    descriptor.fetchOffset = offset
    self.descriptor = descriptor
    observer = try ResultsObserver(
      fetchDescriptor: descriptor,
      sectionBy: \.genre,
      modelContext: context
    )
    replica = Replica(observer)
    slowReplica = Replica(observer)
  }

  func read() { _ = observer.sections?.count }
  func follow(_ place: String) throws { try slowReplica.follow(observer, place) }

  func check(_ place: String) throws {
    witness.look(place) {
      (observer.sections.map(Array.init) ?? []).flatMap { section in
        section.map { ObjectIdentifier($0) } + [ObjectIdentifier(Volume.self)]
      }
    }
    let found = try observer.modelContext.fetch(descriptor)
    var groups: [(title: String, volumes: [Volume])] = []
    for volume in found {
      let title = volume.genre ?? ""
      if let index = groups.firstIndex(where: { $0.title == title }) {
        groups[index].volumes.append(volume)
      } else {
        groups.append((title, [volume]))
      }
    }
    let sections = try #require(observer.sections)
    #expect(sections.sectionTitles == groups.map(\.title), "\(place)")
    #expect(
      sections.map { $0.map(\.summary) } == groups.map { $0.volumes.map(\.summary) },
      "\(place)"
    )
    for (number, group) in groups.enumerated() {
      #expect(sections.index(ofSectionTitled: group.title) == number)
      for (item, volume) in group.volumes.enumerated() {
        #expect(observer.indexPath(for: volume) == IndexPath(indexes: [number, item]), "\(place)")
      }
    }
    #expect(observer.results.elementsEqual(found, by: ===), "\(place)")
    try replica.follow(observer, place)
  }
}

extension Volume {
  fileprivate var summary: String {
    "\(title) \(pages) \(genre ?? "-") \(due?.timeIntervalSince1970 ?? -1) \(shelf?.name ?? "-")"
  }
}

// MARK: Chance

/// A small generator whose numbers follow from the seed.
private struct Chance {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  mutating func next(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(truncatingIfNeeded: (state >> 33) % UInt64(bound))
  }

  mutating func text() -> String { ["a", "B", "b10", "b9", "é", ""][next(6)] }
  mutating func genre() -> String? { [nil, "poetry", "travel", "fiction"][next(4)] }
  mutating func date() -> Date? {
    next(3) == 0 ? nil : Date(timeIntervalSince1970: Double(next(4)))
  }

  mutating func volume() -> Volume {
    let volume = Volume(text(), pages: next(8), genre: genre())
    volume.due = date()
    return volume
  }
}
