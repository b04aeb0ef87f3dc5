import Foundation
import LogEngineTestSupport
import SwiftData
import Testing

@testable import LogStore
@testable import ModelRuntime

@Suite struct `Members that are deleted with their owner` {
  let binders: Binders

  init() throws { binders = try Binders() }

  @Test func `stay rows where the context has no objects of them`() throws {
    let context = try binders.context(lines: 100)
    let binder = try #require(try context.binder(1))
    context.delete(binder)
    #expect(context.maps[0].count == 1)
    try context.save()
    #expect(context.maps[0].count == 0)
    #expect(try binders.keys(\Line.key).isEmpty)
    #expect(!context.hasChanges)
  }

  @Test func `are deleted models for whoever looks, with their last values`() throws {
    let context = try binders.context()
    let names = try binders.keys(\Line.key)
    let binder = try #require(try context.binder(1))
    context.delete(binder)
    let deleted = context.deletedModelsArray
    #expect(deleted.count == 4)
    let lines = deleted.compactMap { $0 as? Line }
    #expect(Set(lines.map(\.key)) == Set(names))
    #expect(lines.allSatisfy { $0.isDeleted && $0.binder == nil && $0.modelContext === context })
    try context.save()
    #expect(lines.allSatisfy { $0.isDeleted && $0.binder == nil && $0.modelContext == nil })
    #expect(Set(lines.map(\.text)) == Set(names.map { "line \($0)" }))
    #expect(try binders.keys(\Line.key).isEmpty)
  }

  @Test func `are known by their identifiers before the save`() throws {
    let context = try binders.context()
    let other = ModelContext(binders.container)
    let name = try #require(try other.line(10)).persistentModelID
    context.delete(try #require(try context.binder(1)))
    let registered: Line? = context.registeredModel(for: name)
    #expect(registered?.isDeleted == true)
    #expect(context.model(for: name) === registered)
  }

  @Test func `are found by no fetch before the save`() throws {
    let context = try binders.context(sheets: 2)
    context.delete(try #require(try context.binder(1)))
    #expect(try context.fetchCount(FetchDescriptor<Line>()) == 0)
    #expect(try context.fetch(FetchDescriptor<Remark>()).isEmpty)
    #expect(try context.line(10) == nil)
    var stored = FetchDescriptor<Line>()
    stored.includePendingChanges = false
    #expect(try context.fetch(stored).allSatisfy(\.isDeleted))
    try context.save()
    #expect(try binders.keys(\Line.key).isEmpty)
    #expect(try binders.keys(\Remark.key).isEmpty)
  }

  @Test(arguments: [false, true])
  func `are told of by the notice of the save`(areKnown: Bool) throws {
    let context = try binders.context(sheets: 1)
    let binder = try #require(try context.binder(1))
    if areKnown { #expect(binder.lines.count == 3) }
    nonisolated(unsafe) var told: [AnyHashable: Any] = [:]
    let observer = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave,
      object: context,
      queue: nil
    ) { told = $0.userInfo ?? [:] }
    defer { NotificationCenter.default.removeObserver(observer) }
    context.delete(binder)
    try context.save()
    let key = ModelContext.NotificationKey.deletedIdentifiers
    let deleted = told[key] as? [PersistentIdentifier] ?? []
    #expect(Set(deleted).count == 7)
    #expect(deleted.count { $0.entityName == "Line" } == 3)
    #expect(deleted.count { $0.entityName == "Remark" } == 2)
  }

  @Test(arguments: [false, true])
  func `leave tombstones with what was to be preserved`(areKnown: Bool) throws {
    let context = try binders.context(lines: 2)
    let binder = try #require(try context.binder(1))
    if areKnown { #expect(binder.lines.count == 2) }
    context.delete(binder)
    try context.save()
    let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    let texts = try #require(history.last).changes.compactMap { change -> String? in
      guard case .delete(let delete as DefaultHistoryDelete<Line>) = change else { return nil }
      return delete.tombstone[\.text] as? String
    }
    #expect(Set(texts) == ["line 10", "line 11"])
  }

  @Test(arguments: [false, true])
  func `are here again after a rollback`(areKnown: Bool) throws {
    let context = try binders.context(sheets: 1)
    let binder = try #require(try context.binder(1))
    if areKnown { #expect(binder.lines.count == 3) }
    context.delete(binder)
    if areKnown { #expect(context.deletedModelsArray.count == 7) }
    context.rollback()
    #expect(!context.hasChanges)
    #expect(binder.lines.map(\.key) == [10, 11, 12])
    #expect(binder.lines.allSatisfy { !$0.isDeleted && $0.binder === binder })
    #expect(binder.sheets.first?.remarks.count == 2)
    binder.lines.removeLast()
    try context.save()
    #expect(try ModelContext(binders.container).binder(1)?.lines.map(\.key) == [10, 11])
  }

  @Test(arguments: [false, true])
  func `stay without the owner if they are inserted again`(areKnown: Bool) throws {
    let context = try binders.context()
    let binder = try #require(try context.binder(1))
    if areKnown { #expect(binder.lines.count == 3) }
    context.delete(binder)
    let line = try #require(context.deletedModelsArray.compactMap { $0 as? Line }.last)
    let key = line.key
    context.insert(line)
    #expect(!line.isDeleted && line.binder == nil)
    try context.save()
    #expect(line.modelContext === context)
    #expect(try binders.keys(\Line.key) == [key])
    #expect(try ModelContext(binders.container).line(key)?.binder == nil)
  }

  @Test(arguments: [false, true])
  func `do not come back with an owner that is inserted again`(areKnown: Bool) throws {
    let context = try binders.context()
    let binder = try #require(try context.binder(1))
    if areKnown { #expect(binder.lines.count == 3) }
    context.delete(binder)
    context.insert(binder)
    #expect(binder.lines.isEmpty)
    let line = try #require(context.deletedModelsArray.first as? Line)
    let key = line.key
    context.insert(line)
    #expect(line.binder == nil)
    line.binder = binder
    try context.save()
    let found = try ModelContext(binders.container).binder(1)
    #expect(found?.lines.map(\.key) == [key])
    #expect(try binders.keys(\Line.key) == [key])
  }

  @Test(arguments: [false, true])
  func `that are inserted again stay away from an owner that comes after them`(areKnown: Bool)
    throws
  {
    let context = try binders.context()
    let binder = try #require(try context.binder(1))
    if areKnown { #expect(binder.lines.count == 3) }
    context.delete(binder)
    let line = try #require(context.deletedModelsArray.compactMap { $0 as? Line }.first)
    context.insert(line)
    context.insert(binder)
    #expect(line.binder == nil)
    #expect(binder.lines.isEmpty)
    try context.save()
    #expect(try ModelContext(binders.container).binder(1)?.lines.isEmpty == true)
    #expect(try binders.keys(\Line.key) == [line.key])
  }

  @Test func `may be led to another owner while they are deleted`() throws {
    _ = try binders.context(binder: 2, lines: 0)
    let context = try binders.context()
    let (binder, other) = (try context.binder(1), try context.binder(2))
    context.delete(try #require(binder))
    let line = try #require(context.deletedModelsArray.compactMap { $0 as? Line }.first)
    line.binder = other
    context.insert(line)
    try context.save()
    #expect(try ModelContext(binders.container).binder(2)?.lines.map(\.key) == [line.key])
    #expect(try binders.keys(\Line.key) == [line.key])
  }

  @Test func `go with it though others have added one, moved one here and deleted one`() throws {
    _ = try binders.context(binder: 2)
    let context = try binders.context()
    context.delete(try #require(try context.binder(1)))
    try binders.elsewhere { other in
      let new = Line(99)
      other.insert(new)
      new.binder = try other.binder(1)
      try other.line(20)?.binder = other.binder(1)
      other.delete(try #require(try other.line(10)))
    }
    try context.save()
    #expect(!context.hasChanges)
    #expect(try binders.keys(\Line.key) == [21, 22])
    #expect(try binders.keys(\Binder.key) == [2])
  }

  @Test(arguments: [false, true])
  func `are forgotten once a merge says that others have deleted them`(areKnown: Bool) throws {
    let context = try binders.context(sheets: 1)
    context.automaticallyMergesChanges = true
    let binder = try #require(try context.binder(1))
    if areKnown { #expect(binder.lines.count == 3) }
    context.delete(binder)
    try binders.elsewhere { $0.delete(try #require(try $0.binder(1))) }
    context.processPendingChanges()
    #expect(!context.hasChanges)
    #expect(context.deletedModelsArray.isEmpty)
    context.checkInvariants()
    try context.save()
    #expect(try binders.keys(\Line.key).isEmpty)
  }

  @Test func `are still deleted where a merge says that others have moved one`() throws {
    _ = try binders.context(binder: 2, lines: 0)
    let context = try binders.context()
    context.automaticallyMergesChanges = true
    context.delete(try #require(try context.binder(1)))
    try binders.elsewhere { try $0.line(10)?.binder = $0.binder(2) }
    context.processPendingChanges()
    #expect(context.deletedModelsArray.count == 4)
    context.checkInvariants()
    try context.save()
    #expect(!context.hasChanges)
    #expect(try binders.keys(\Binder.key) == [2])
  }

  @Test func `get no objects by fetches of other classes`() throws {
    let keys = Array(1...6)
    for key in keys { _ = try binders.context(binder: key) }
    let context = ModelContext(binders.container)
    for key in keys { if let binder = try context.binder(key) { context.delete(binder) } }
    #expect(try context.fetch(FetchDescriptor<Binder>()).isEmpty)
    #expect(try context.fetchCount(FetchDescriptor<Sheet>()) == 0)
    #expect(context.maps[0].count == keys.count)
    #expect(try context.fetch(FetchDescriptor<Line>()).isEmpty)
    #expect(context.maps[0].count == 4 * keys.count)
    try context.save()
    #expect(try binders.keys(\Line.key).isEmpty)
  }

  @Test func `are looked at once each, however often there are more of them`() throws {
    let keys = Array(1...6)
    for key in keys { _ = try binders.context(binder: key) }
    let context = ModelContext(binders.container)
    for (count, key) in keys.enumerated() {
      context.delete(try #require(try context.binder(key)))
      #expect(context.firstRowsTakenAlong == count)
      // Makes objects of its siblings.
      #expect(try context.line(10 * key) == nil)
      #expect(!context.hasRowsTakenAlong)
    }
    context.checkInvariants()
    try context.save()
    #expect(try binders.keys(\Line.key).isEmpty)
  }

  @Test func `go once with two owners, between which others have moved one`() throws {
    _ = try binders.context(binder: 2)
    let context = try binders.context()
    let (first, second) = (try context.binder(1), try context.binder(2))
    context.delete(try #require(first))
    try binders.elsewhere { try $0.line(10)?.binder = $0.binder(2) }
    context.delete(try #require(second))
    try context.save()
    #expect(try binders.keys(\Line.key).isEmpty)
    #expect(try binders.keys(\Binder.key).isEmpty)
  }

  @Test func `are not there for models that lead to them and are not known to them`() throws {
    let context = try binders.context()
    try binders.elsewhere { other in
      let bookmark = Bookmark(1)
      other.insert(bookmark)
      bookmark.line = try other.line(10)
      bookmark.lines = [try other.line(11), try other.line(12)].compactMap { $0 }
    }
    let bookmark = try #require(try context.fetch(FetchDescriptor<Bookmark>()).first)
    context.delete(try #require(try context.binder(1)))
    #expect(bookmark.line == nil)
    #expect(bookmark.lines.isEmpty)
    try context.save()
    #expect(bookmark.line == nil)
    #expect(bookmark.lines.isEmpty)
  }

  @Test func `are not there for an object that knows nothing but its row`() throws {
    let context = try binders.context()
    try binders.elsewhere { other in
      let bookmark = Bookmark(1)
      other.insert(bookmark)
      bookmark.line = try other.line(10)
    }
    let bookmark = try #require(try context.fetch(FetchDescriptor<Bookmark>()).first)
    context.delete(try #require(try context.binder(1)))
    #expect(bookmark.line == nil)
    #expect(context.maps[0].count == 5)
  }

  @Test func `include those that were never saved, and not those that have left`() throws {
    _ = try binders.context(binder: 2, lines: 0)
    let context = try binders.context()
    let (binder, other) = (try #require(try context.binder(1)), try context.binder(2))
    let left = try #require(try context.line(10))
    left.binder = other
    let new = Line(99)
    context.insert(new)
    new.binder = binder
    context.delete(binder)
    #expect(new.isDeleted && !left.isDeleted)
    try context.save()
    #expect(new.modelContext == nil)
    #expect(try binders.keys(\Line.key) == [10])
    #expect(try ModelContext(binders.container).line(10)?.binder?.key == 2)
  }

  @Test func `have identifiers after they are gone`() throws {
    let context = try binders.context()
    let binder = try #require(try context.binder(1))
    let lines = binder.lines
    let names = lines.map(\.persistentModelID)
    context.delete(binder)
    try context.save()
    #expect(lines.map(\.persistentModelID) == names)
    context.insert(lines[0])
    #expect(lines[0].persistentModelID != names[0])
    #expect(lines[0].persistentModelID.isTemporary)
    try context.save()
    #expect(lines[0].persistentModelID != names[0])
    #expect(try binders.keys(\Line.key) == [10])
  }
}

/// Two contexts do the same by chance: one makes objects of whatever it deletes, as its undo manager wants to have them.
@Suite struct `Members that are deleted with their owner, by chance` {
  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func `leave what they would leave as objects`(seed: UInt64) throws {
    let pair = try [true, false].map { try Twin(hasObjects: $0) }
    var chance = SeededGenerator(seed: seed)
    for step in 0..<40 {
      let action = Int.random(in: 0..<14, using: &chance)
      let (a, b) = (Int.random(in: 0..<4, using: &chance), Int.random(in: 0..<4, using: &chance))
      for twin in pair { try twin.act(action, a, b, step) }
      for twin in pair { twin.context.checkInvariants("seed \(seed), step \(step):") }
      // A look makes objects of the rows.
      if action < 7 { continue }
      #expect(try pair[0].look() == pair[1].look(), "seed \(seed), step \(step), action \(action)")
    }
    for twin in pair { try twin.context.save() }
    #expect(try pair[0].stored() == pair[1].stored(), "seed \(seed)")
    for twin in pair { twin.context.checkInvariants("seed \(seed)") }
  }

  private final class Twin {
    let binders: Binders
    let context: ModelContext
    private var held: [Line] = []

    init(hasObjects: Bool) throws {
      binders = try Binders()
      for key in 0..<4 { _ = try binders.context(binder: key, lines: 3, sheets: 2) }
      context = ModelContext(binders.container)
      if hasObjects { context.undoManager = UndoManager() }
    }

    func act(_ action: Int, _ a: Int, _ b: Int, _ step: Int) throws {
      switch action {
      case 0, 1, 2:
        if let binder = try context.binder(a) { context.delete(binder) }
      case 3:
        // Without a fetch in between.
        for binder in try context.fetch(FetchDescriptor<Binder>()).prefix(2) {
          context.delete(binder)
        }
      case 4:
        let binder = Binder(a)
        context.insert(binder)
        binder.lines = (0..<b).map { Line(1000 * (step + 1) + $0) }
        if b.isMultiple(of: 2) { try context.save() }
      case 5: try context.save()
      case 6:
        try binders.elsewhere { other in
          let line = Line(1000 * (step + 1))
          other.insert(line)
          line.binder = try other.binder(a)
        }
      case 7: context.rollback()
      case 8:
        if let binder = try context.binder(a) { held += binder.lines.prefix(b) }
      case 9:
        for model in context.deletedModelsArray.sorted(by: { Self.text($0) < Self.text($1) })
          .dropFirst(a).prefix(b)
        { context.insert(model) }
      case 10:
        let lines = try context.fetch(FetchDescriptor<Line>(sortBy: [SortDescriptor(\.key)]))
        for line in lines.dropFirst(a).prefix(b) { line.binder = try context.binder(b) }
      case 11:
        // A row that others have deleted tells no values any more.
        if b == 0 { _ = context.deletedModelsArray }
        try binders.elsewhere { other in
          let lines = try other.fetch(FetchDescriptor<Line>(sortBy: [SortDescriptor(\.key)]))
          if let line = lines.dropFirst(a).first {
            if b == 0 { other.delete(line) } else { line.binder = try other.binder(b) }
          }
        }
      case 13:
        // The owners last.
        let deleted = context.deletedModelsArray.sorted { Self.text($0) > Self.text($1) }
        for model in deleted.filter({ !($0 is Binder) }).dropFirst(a).prefix(b) {
          context.insert(model)
        }
        for model in deleted where model is Binder { context.insert(model) }
      default: break
      }
    }

    private static func text(_ model: any PersistentModel) -> String {
      switch model {
      case let binder as Binder: "binder \(binder.key)"
      case let line as Line: "line \(line.key) of \(line.binder?.key ?? -1)"
      case let sheet as Sheet: "sheet \(sheet.key) of \(sheet.binder?.key ?? -1)"
      case let remark as Remark: "remark \(remark.key) of \(remark.sheet?.key ?? -1)"
      default: "?"
      }
    }

    private static func texts(in context: ModelContext) throws -> [String] {
      try
        (context.fetch(FetchDescriptor<Binder>()).map {
          "\(text($0)): \($0.lines.map(\.key)) \($0.sheets.map(\.key))"
        } + context.fetch(FetchDescriptor<Line>()).map(text)
        + context.fetch(FetchDescriptor<Sheet>()).map { "\(text($0)): \($0.remarks.map(\.key))" }
        + context.fetch(FetchDescriptor<Remark>()).map(text)).sorted()
    }

    func look() throws -> [String] {
      try Self.texts(in: context)
        + context.deletedModelsArray.map { "deleted \(Self.text($0))" }.sorted()
        + ["\(context.hasChanges)"]
    }

    func stored() throws -> [String] { try Self.texts(in: ModelContext(binders.container)) }
  }
}
