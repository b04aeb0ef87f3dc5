// swift-format-ignore-file: NeverForceUnwrap
// The forced unwraps below are part of what is tested.

import Foundation

@testable import ModelRuntime

extension Questions {
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
      Question("property of optional", #Predicate { $0.count.orZero < 3 }),
      Question("property of optional !=", #Predicate { $0.count.orZero != 0 }),
      Question("property of optional, sum", #Predicate { $0.count.orZero / 2 + 1 == 1 }),
      Question("property of optional text", #Predicate { $0.note.isNilOrEmpty }),
      Question("property of optional text, negated", #Predicate { !$0.note.isNilOrEmpty }),
      Question("property of optional enumeration", #Predicate { $0.rank.orLow.rawValue == 0 }),
      Question(
        "property of optional behind a reference",
        #Predicate { $0.folder?.comment.isNilOrEmpty == true }
      ),
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
}

extension Int? {
  fileprivate var orZero: Int { self ?? 0 }
}

extension String? {
  fileprivate var isNilOrEmpty: Bool { self?.isEmpty ?? true }
}

extension Priority? {
  fileprivate var orLow: Priority { self ?? .low }
}
