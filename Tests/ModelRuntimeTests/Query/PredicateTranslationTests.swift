// swift-format-ignore-file: NeverForceUnwrap
// The forced unwraps below are part of what is tested.

import Foundation
import Testing

@testable import ModelRuntime

/// A predicate to try, with a name for the report.
struct Question<T: PersistentModel>: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let predicate: Predicate<T>

  init(_ name: String, _ predicate: Predicate<T>) {
    testDescription = name
    self.predicate = predicate
  }
}

/// Checks that rows answer as objects do.
///
/// Where the evaluation of the object throws (nil unwrapped by force) the row does not match.
func expectAgreement<T: PersistentModel>(
  _ predicate: Predicate<T>,
  in world: RandomItems,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let expression = try QueryExpression(predicate)
  let found = try world.fixture.matches(expression, of: T.self)
  let expected = world.fixture.models.compactMap { $0 as? T }
    .filter { (try? predicate.evaluate($0)) ?? false }
  #expect(
    found.map { ObjectIdentifier($0) } == expected.map { ObjectIdentifier($0) },
    "\(expression)",
    sourceLocation: sourceLocation
  )
}

@Suite struct `A predicate over rows` {
  @Test(arguments: Questions.numbers + Questions.values + Questions.optionals)
  func `says of attributes what it says of objects`(_ question: Question<Item>) throws {
    for seed in 1...3 {
      try expectAgreement(question.predicate, in: RandomItems(seed: UInt64(seed)))
    }
  }

  @Test(arguments: Questions.texts)
  func `says of text what it says of objects`(_ question: Question<Item>) throws {
    for seed in 1...5 {
      try expectAgreement(question.predicate, in: RandomItems(seed: UInt64(seed)))
    }
  }

  @Test(arguments: Questions.paths)
  func `follows references as objects do`(_ question: Question<Item>) throws {
    for seed in 1...3 {
      try expectAgreement(question.predicate, in: RandomItems(seed: UInt64(seed)))
    }
  }

  @Test(arguments: Questions.lists)
  func `looks at members of lists as objects do`(_ question: Question<Folder>) throws {
    for seed in 1...3 {
      try expectAgreement(question.predicate, in: RandomItems(seed: UInt64(seed)))
    }
  }

  @Test func `knows the attributes that a class inherits`() throws {
    let world = try RandomItems(seed: 2)
    for predicate: Predicate<Errand> in [
      #Predicate { $0.number > 2 && $0.place > "b" },
      #Predicate { $0.folder?.name == "a" || $0.title == $0.place },
    ] {
      try expectAgreement(predicate, in: world)
    }
  }

  @Test func `finds rows by their identifiers`() throws {
    let world = try RandomItems(seed: 1)
    let one = world.items[3].persistentModelID
    let ids = world.items[5..<9].map(\.persistentModelID)
    let set = Set(ids)
    let folder = world.folders[1].persistentModelID
    let folders = [folder, world.folders[0].persistentModelID]
    let foreign = Item(number: 1).persistentModelID
    for predicate: Predicate<Item> in [
      #Predicate { $0.persistentModelID == one },
      #Predicate { $0.id == one },
      #Predicate { one != $0.id },
      #Predicate { ids.contains($0.persistentModelID) },
      #Predicate { set.contains($0.id) },
      #Predicate { !set.contains($0.id) },
      #Predicate { $0.folder?.persistentModelID == folder },
      #Predicate { ($0.folder?.id ?? one) != folder },
      #Predicate { $0.folder.flatMap { folders.contains($0.persistentModelID) } ?? false },
      #Predicate { $0.id == foreign },
      #Predicate { $0.folder!.persistentModelID == folder },
    ] {
      try expectAgreement(predicate, in: world)
    }
  }
}

/// Predicates as people write them.
enum Questions {
  static let numbers: [Question<Item>] = {
    let most = Int.max
    let least = Int.min
    let small: Int16 = 300
    let byte: UInt8 = 128
    let half: UInt64 = 1 << 63
    let wides: [UInt64] = [.max, 0]
    let unordered = Samples.doubles[8]
    let infinity = Double.infinity
    let tenth: Float = 0.1
    let set: Set = [1, 2, 3, 7]
    let captured = 0...7
    let from = 3...
    let none: Int? = nil
    let some: Int? = 7
    return [
      Question("==", #Predicate { $0.number == 3 }),
      Question("!=", #Predicate { $0.number != 3 }),
      Question("constant on the left", #Predicate { 3 < $0.number }),
      Question("< Int.max", #Predicate { $0.number < most && $0.number > least }),
      Question("> Int.max", #Predicate { $0.number > most || $0.number < least }),
      Question(">= Int.min", #Predicate { $0.number >= least && $0.number <= most }),
      Question("Int16", #Predicate { $0.small >= small }),
      Question("UInt8", #Predicate { $0.byte > byte }),
      Question("UInt64 order", #Predicate { $0.wide > half }),
      Question("UInt64 <=", #Predicate { $0.wide <= half }),
      Question("UInt64 set", #Predicate { wides.contains($0.wide) }),
      Question("UInt64 columns", #Predicate { $0.wide < $0.wide + 0 || $0.wide == half }),
      Question("Double", #Predicate { $0.ratio <= 1.5 }),
      Question("zero", #Predicate { $0.ratio == 0 }),
      Question("NaN ==", #Predicate { $0.ratio == unordered }),
      Question("NaN !=", #Predicate { $0.ratio != unordered }),
      Question("not < NaN", #Predicate { !($0.ratio < unordered) }),
      Question("infinity", #Predicate { $0.ratio < infinity }),
      Question("Float", #Predicate { $0.share == tenth }),
      Question("Float sum", #Predicate { $0.share + tenth == 0.3 }),
      Question("Float quotient", #Predicate { $0.share / 3 > 0.033 }),
      Question("set", #Predicate { set.contains($0.number) }),
      Question("literal array", #Predicate { [1, 7].contains($0.number) }),
      Question("closed range", #Predicate { (0...7).contains($0.number) }),
      Question("range", #Predicate { (0..<7).contains($0.number) }),
      Question("captured range", #Predicate { captured.contains($0.number) }),
      Question("partial range", #Predicate { from.contains($0.number) }),
      Question("between attributes", #Predicate { $0.number < $0.number / 2 }),
      Question("sum", #Predicate { $0.number / 2 + 1 > 1 }),
      Question("remainder", #Predicate { $0.number % 2 == 1 }),
      Question("minus", #Predicate { -($0.number % 50) > 0 }),
      Question("double arithmetic", #Predicate { ($0.ratio + 1) * 2 - 0.5 >= $0.ratio / 3 }),
      Question("optional ==", #Predicate { $0.count == 7 }),
      Question("optional !=", #Predicate { $0.count != 7 }),
      Question("optional == nil captured", #Predicate { $0.count == none }),
      Question("optional == some captured", #Predicate { $0.count != some }),
      Question("?? and <", #Predicate { ($0.count ?? 5) < 6 }),
      Question("!", #Predicate { $0.count! > 1 }),
      Question("! negated", #Predicate { !($0.count! > 1) }),
      Question("optional double", #Predicate { $0.score == 1.5 || $0.score == nil }),
      Question("optional double ??", #Predicate { ($0.score ?? -1) <= 0 }),
      Question("optional float", #Predicate { $0.weight == tenth }),
      Question("columns", #Predicate { $0.count == $0.rank?.rawValue }),
      Question("min of captured", #Predicate { $0.number < [7, 3, 100].min()! }),
    ]
  }()

  static let values: [Question<Item>] = {
    let due = Samples.dates[3]
    let later = Samples.dates[4]
    let token = Samples.uuids[2]
    let tokens = Set(Samples.uuids[1...3])
    let link = Samples.links[0]
    let payload = Samples.payloads[2]
    let high = Priority.high
    let low = Priority.low
    let waiting = Status.waiting
    let open = Status.open
    let unset: Priority? = nil
    let ranks: [Priority] = [.low, .high]
    let rank: Priority? = .middle
    let yes = true
    return [
      Question("Bool", #Predicate { $0.isDone }),
      Question("not Bool", #Predicate { !$0.isDone }),
      Question("Bool == true", #Predicate { $0.isDone == true }),
      Question("Bool == false", #Predicate { $0.isDone == false }),
      Question("Bool != captured", #Predicate { $0.isDone != yes }),
      Question("comparison == Bool", #Predicate { ($0.number > 2) == $0.isDone }),
      Question("optional Bool", #Predicate { $0.isOld == true }),
      Question("optional Bool not true", #Predicate { $0.isOld != true }),
      Question("optional Bool ??", #Predicate { $0.isOld ?? true }),
      Question("optional Bool !", #Predicate { !$0.isOld! }),
      Question("true", Predicate<Item>.true),
      Question("false", Predicate<Item>.false),
      Question("Date", #Predicate { $0.due >= due }),
      Question("Date range", #Predicate { $0.due >= due && $0.due < later }),
      Question("Date range as range", #Predicate { (due..<later).contains($0.due) }),
      Question("Date property", #Predicate { $0.due.timeIntervalSinceReferenceDate > 0 }),
      Question("optional Date", #Predicate { $0.seen == due }),
      Question("optional Date ??", #Predicate { ($0.seen ?? later) > due }),
      Question("dates", #Predicate { $0.due < ($0.seen ?? later) }),
      Question("UUID", #Predicate { $0.token == token }),
      Question("UUID order", #Predicate { $0.token < token }),
      Question("UUID set", #Predicate { tokens.contains($0.token) }),
      Question("UUID text", #Predicate { $0.token.uuidString.contains("FF") }),
      Question("optional UUID", #Predicate { $0.key != token }),
      Question("UUIDs", #Predicate { ($0.key ?? token) == $0.token }),
      Question("URL", #Predicate { $0.link == link }),
      Question("optional URL", #Predicate { $0.site != link }),
      Question("URL property", #Predicate { $0.link.absoluteString.starts(with: "https") }),
      Question("Data", #Predicate { $0.payload == payload }),
      Question("enumeration", #Predicate { $0.priority == high }),
      Question("enumeration !=", #Predicate { $0.priority != low }),
      Question("enumeration's default", #Predicate { $0.status == waiting }),
      Question("enumeration of texts", #Predicate { $0.status != open }),
      Question("rawValue", #Predicate { $0.priority.rawValue > 0 }),
      Question("property of enumeration", #Predicate { $0.priority.isUrgent }),
      Question("rawValue of text", #Predicate { $0.status.rawValue.contains("o") }),
      Question("enumerations", #Predicate { ranks.contains($0.priority) }),
      Question("optional enumeration", #Predicate { $0.rank == rank }),
      Question("optional enumeration nil", #Predicate { $0.rank == unset }),
      Question("optional enumeration != nil", #Predicate { $0.rank != nil }),
      Question("optional rawValue", #Predicate { $0.rank?.rawValue == 1 }),
    ]
  }()

  static let optionals: [Question<Item>] = [
    Question("== nil", #Predicate { $0.note == nil }),
    Question("!= nil", #Predicate { $0.note != nil }),
    Question("optional text ==", #Predicate { $0.note == "a" }),
    Question("optional text !=", #Predicate { $0.note != "a" }),
    Question("optional text ??", #Predicate { ($0.note ?? "b") < "c" }),
    Question("optional chain", #Predicate { $0.note?.isEmpty == true }),
    Question("optional chain ??", #Predicate { $0.note?.contains("a") ?? true }),
    Question(
      "if let",
      #Predicate { item in
        if let note = item.note { note.count > 1 } else { item.isDone }
      }
    ),
    Question(
      "if let, two",
      #Predicate { item in
        if let note = item.note, let count = item.count { note == "a" || count > 2 } else { false }
      }
    ),
    Question("ternary", #Predicate { $0.isDone ? $0.number > 2 : $0.ratio > 1 }),
    Question("ternary value", #Predicate { ($0.isDone ? $0.number : 5) > 2 }),
    Question("flatMap", #Predicate { $0.count.flatMap { $0 > 2 } ?? false }),
    Question("flatMap nil", #Predicate { $0.count.flatMap { $0 > 2 } == nil }),
    Question("! in or", #Predicate { $0.isDone || $0.note! == "a" }),
  ]

  static let texts: [Question<Item>] = {
    var questions = [
      Question("isEmpty", #Predicate<Item> { $0.title.isEmpty }),
      Question("count", #Predicate<Item> { $0.title.count == 1 }),
      Question("pattern", #Predicate<Item> { $0.title.contains(/[a-c]+/) }),
      Question("two columns", #Predicate<Item> { $0.title == ($0.note ?? "") }),
      Question("two columns in order", #Predicate<Item> { $0.title < ($0.note ?? "c") }),
    ]
    let same = ComparisonResult.orderedSame
    let descending = ComparisonResult.orderedDescending
    for text in Samples.texts {
      let texts = [text, "abc"]
      questions += [
        Question("== \(text.debugDescription)", #Predicate { $0.title == text }),
        Question("!= \(text.debugDescription)", #Predicate { $0.title != text }),
        Question("< \(text.debugDescription)", #Predicate { $0.title < text }),
        Question(">= \(text.debugDescription)", #Predicate { $0.title >= text }),
        Question("contains \(text.debugDescription)", #Predicate { $0.title.contains(text) }),
        Question("starts \(text.debugDescription)", #Predicate { $0.title.starts(with: text) }),
        Question("is contained \(text.debugDescription)", #Predicate { text.contains($0.title) }),
        Question(
          "localized contains \(text.debugDescription)",
          #Predicate { $0.title.localizedStandardContains(text) }
        ),
        Question(
          "equal but for case \(text.debugDescription)",
          #Predicate { $0.title.caseInsensitiveCompare(text) == same }
        ),
        Question(
          "case-insensitive order \(text.debugDescription)",
          #Predicate { $0.title.caseInsensitiveCompare(text) != descending }
        ),
        Question(
          "localized order \(text.debugDescription)",
          #Predicate { $0.title.localizedCompare(text) == descending }
        ),
        Question("in \(text.debugDescription)", #Predicate { texts.contains($0.title) }),
      ]
    }
    return questions
  }()

  static let paths: [Question<Item>] = {
    let name = "abc"
    return [
      Question("folder == nil", #Predicate { $0.folder == nil }),
      Question("folder != nil", #Predicate { $0.folder != nil }),
      Question("name ==", #Predicate { $0.folder?.name == name }),
      Question("name !=", #Predicate { $0.folder?.name != name }),
      Question("size ??", #Predicate { ($0.folder?.size ?? 9) > 2 }),
      Question("optional at the end", #Predicate { $0.folder?.comment == nil }),
      Question("optional at the end != nil", #Predicate { $0.folder?.comment != nil }),
      Question("two steps", #Predicate { $0.folder?.parent?.size == 0 }),
      Question("two steps != ", #Predicate { $0.folder?.parent?.name != name }),
      Question("two steps nil", #Predicate { $0.folder?.parent == nil }),
      Question("method at the end", #Predicate { $0.folder?.name.contains("a") == true }),
      Question("method ??", #Predicate { $0.folder?.name.contains("a") ?? true }),
      Question("forced", #Predicate { $0.folder!.size > 2 }),
      Question("forced !=", #Predicate { $0.folder!.name != name }),
      Question("forced nil", #Predicate { !($0.folder!.parent == nil) }),
      Question(
        "if let",
        #Predicate { item in
          if let folder = item.folder { folder.size > item.number } else { false }
        }
      ),
      Question(
        "flatMap with the outer row",
        #Predicate { item in item.folder.flatMap { $0.name == item.title || $0.size > 3 } ?? true }
      ),
      Question("same folder", #Predicate { $0.folder == $0.folder?.parent }),
      Question("is", #Predicate { $0 is Errand }),
      Question("is not", #Predicate { !($0 is Errand) && $0.number > 1 }),
      Question("as?", #Predicate { ($0 as? Errand)?.place.isEmpty == false }),
      Question(
        "if let as?",
        #Predicate { if let errand = $0 as? Errand { errand.place > "b" } else { false } }
      ),
    ]
  }()

  static let lists: [Question<Folder>] = {
    let name = "a"
    return [
      Question("isEmpty", #Predicate { $0.items.isEmpty }),
      Question("not isEmpty", #Predicate { !$0.children.isEmpty }),
      Question("count", #Predicate { $0.items.count > 5 }),
      Question("contains where", #Predicate { $0.items.contains { $0.number == 3 } }),
      Question("allSatisfy", #Predicate { $0.items.allSatisfy { $0.number > -200 } }),
      Question("filter count", #Predicate { $0.items.filter { $0.isDone }.count >= 3 }),
      Question("filter isEmpty", #Predicate { $0.items.filter { $0.number == 7 }.isEmpty }),
      Question(
        "filter contains",
        #Predicate { $0.items.filter { $0.isDone }.contains { $0.number == 3 } }
      ),
      Question(
        "outer in inner",
        #Predicate { folder in folder.items.contains { $0.number == folder.size } }
      ),
      Question(
        "lists in lists",
        #Predicate { $0.items.contains { $0.labels.contains { $0.weight > 1 } } }
      ),
      Question(
        "three levels, each named",
        #Predicate { folder in
          folder.items.contains { item in
            item.labels.contains { $0.name == item.title || $0.name == folder.name }
          }
        }
      ),
      Question(
        "back to the outer row",
        #Predicate { folder in
          folder.items.allSatisfy { $0.folder.flatMap { $0 == folder } ?? false }
        }
      ),
      Question(
        "member",
        #Predicate { folder in folder.parent?.children.contains(folder) ?? false }
      ),
      Question("list through a path", #Predicate { $0.parent?.children.isEmpty == false }),
      Question("count through a path", #Predicate { ($0.parent?.children.count ?? 0) > 1 }),
      Question(
        "names",
        #Predicate { folder in ["a", "b"].contains { $0 == folder.name || folder.size > 3 } }
      ),
      Question("comment or name", #Predicate { ($0.comment ?? $0.name) == name }),
    ]
  }()
}
