import Foundation
import ModelRuntime
import SwiftData
import Testing

@testable import LogStore

@Model private final class Mailbox {
  #Unique<Mailbox>([\.name])

  var name: String

  init(_ name: String) { self.name = name }
}

@Model private final class Mail {
  #Index<Mail>([\.subject], [\.day], [\.size, \.day], [\.sentAt])

  var number: Int
  var subject: String
  var day: Int
  var size: Int
  var sentAt: Date
  var note: String?
  var from: Mailbox?
  var to: Mailbox?

  init(_ number: Int) {
    self.number = number
    subject = "subject \(number % 211)"
    day = number * 31 % 307
    size = number % 53
    sentAt = Date(timeIntervalSinceReferenceDate: Double(number * 7919 % 4001))
    note = number % 3 == 0 ? nil : "note \(number % 10)"
  }
}

/// Something asked of mails, and the same of objects.
private struct Question: CustomTestStringConvertible {
  let words: String
  let predicate: Predicate<Mail>
  let isMatch: @Sendable (Mail) -> Bool
  /// Whether an index leads to each alternative.
  var isLed = true

  var testDescription: String { words }

  static let all = [
    Question(
      words: "two attributes",
      predicate: #Predicate { $0.subject == "subject 7" || $0.day == 9 },
      isMatch: { $0.subject == "subject 7" || $0.day == 9 }
    ),
    Question(
      words: "two attributes, and something of all",
      predicate: #Predicate { ($0.subject == "subject 7" || $0.day == 9) && $0.size > 20 },
      isMatch: { ($0.subject == "subject 7" || $0.day == 9) && $0.size > 20 }
    ),
    Question(
      words: "a range and a pair",
      predicate: #Predicate { $0.day > 303 || $0.size == 5 && $0.day < 40 },
      isMatch: { $0.day > 303 || $0.size == 5 && $0.day < 40 }
    ),
    Question(
      words: "either of two relationships",
      predicate: #Predicate { $0.from?.name == "box 3" || $0.to?.name == "box 3" },
      isMatch: { $0.from?.name == "box 3" || $0.to?.name == "box 3" }
    ),
    Question(
      words: "a relationship, an attribute and another of it",
      predicate: #Predicate {
        $0.subject == "subject 7" || $0.from?.name == "box 3" || $0.subject == "subject 9"
      },
      isMatch: {
        $0.subject == "subject 7" || $0.from?.name == "box 3" || $0.subject == "subject 9"
      }
    ),
    Question(
      words: "what the second asks, the first does, too",
      predicate: #Predicate { $0.day < 5 || $0.day == 3 && $0.subject == "subject 7" },
      isMatch: { $0.day < 5 || $0.day == 3 && $0.subject == "subject 7" }
    ),
    Question(
      words: "no such value in one",
      predicate: #Predicate { $0.subject == "none" || $0.day == 9 },
      isMatch: { $0.day == 9 }
    ),
    Question(
      words: "an attribute without an index",
      predicate: #Predicate { $0.subject == "subject 7" || $0.note == "note 4" },
      isMatch: { $0.subject == "subject 7" || $0.note == "note 4" },
      isLed: false
    ),
    Question(
      words: "nearly all",
      predicate: #Predicate { $0.subject == "subject 7" || $0.day > 9 },
      isMatch: { $0.subject == "subject 7" || $0.day > 9 },
      isLed: false
    ),
  ]
}

@Suite struct `Alternatives that ask about different attributes` {
  private static let count = 4_000
  private let context: ModelContext
  private let mails: [Mail]

  init() throws {
    context = ModelContext(
      try ModelContainer(
        for: Mail.self,
        Mailbox.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
      )
    )
    context.autosaveEnabled = false
    let boxes = (0..<100).map { Mailbox("box \($0)") }
    mails = (0..<Self.count).map { number in
      let mail = Mail(number)
      mail.from = number % 7 == 0 ? nil : boxes[number % 100]
      mail.to = number % 5 == 0 ? nil : boxes[number * 3 % 100]
      return mail
    }
    for mail in mails { context.insert(mail) }
    try context.save()
  }

  private func numbers(_ descriptor: FetchDescriptor<Mail>) throws -> [Int] {
    try context.fetch(descriptor).map(\.number)
  }

  private func expectAnswers(_ question: Question, among mails: [Mail]) throws {
    let matching = mails.filter(question.isMatch).map(\.number)
    var descriptor = FetchDescriptor(predicate: question.predicate)
    #expect(try numbers(descriptor).sorted() == matching.sorted())
    #expect(try context.fetchCount(descriptor) == matching.count)
    #expect(
      try context.fetchIdentifiers(descriptor).count == matching.count
    )
    descriptor.fetchLimit = 3
    #expect(Set(try numbers(descriptor)).isSubset(of: matching))
    #expect(try numbers(descriptor).count == min(3, matching.count))
    for order in [SortOrder.forward, .reverse] {
      let ordered = mails.filter(question.isMatch).sorted {
        let (lhs, rhs) = order == .forward ? ($0, $1) : ($1, $0)
        return (lhs.sentAt, lhs.number) < (rhs.sentAt, rhs.number)
      }.map(\.number)
      descriptor.sortBy = [
        SortDescriptor(\.sentAt, order: order), SortDescriptor(\.number, order: order),
      ]
      descriptor.fetchLimit = 5
      descriptor.fetchOffset = 2
      #expect(try numbers(descriptor) == Array(ordered.dropFirst(2).prefix(5)))
      descriptor.fetchLimit = nil
      descriptor.fetchOffset = nil
      #expect(try numbers(descriptor) == ordered)
    }
  }

  @Test(arguments: Question.all)
  private func `are answered as objects answer them`(question: Question) throws {
    try expectAnswers(question, among: mails)
    let plan = try context.explain(FetchDescriptor(predicate: question.predicate))
    let isLed = plan.accesses.contains {
      switch $0.path {
      case .either, .index: true
      default: false
      }
    }
    #expect(isLed == question.isLed, "\(plan)")
    if isLed {
      let readCount = plan.accesses.reduce(0) { $0 + $1.readRowCount }
      #expect(readCount < Self.count / 4, "\(plan)")
    }
  }

  @Test(arguments: Question.all)
  private func `are answered beside changes that are not saved`(question: Question) throws {
    var rest = mails
    for mail in mails where mail.number % 4 == 0 {
      switch mail.number % 12 {
      case 0: mail.day = 9
      case 4: mail.subject = "subject 8"
      default:
        context.delete(mail)
        rest.removeAll { $0 === mail }
      }
    }
    for number in 0..<30 {
      let mail = Mail(Self.count + number)
      context.insert(mail)
      rest.append(mail)
    }
    try expectAnswers(question, among: rest)
    try context.save()
    try expectAnswers(question, among: rest)
  }

  @Test func `are shown as paths of their own`() throws {
    let plan = try context.explain(FetchDescriptor(predicate: Question.all[0].predicate))
    #expect(plan.accesses.map(\.path) == [.either([.index(["subject"]), .index(["day"])])])
    #expect("\(plan)".contains("index of subject, or index of day"))
  }

  @Test func `are looked up by their own indexes, however many there are`() throws {
    let parts = (0..<200).map { number -> Predicate<Mail> in
      if number.isMultiple(of: 2) {
        let subject = "subject \(number)"
        return #Predicate { $0.subject == subject }
      }
      return #Predicate { $0.day == number }
    }
    let any = try #require(
      parts.dropFirst().reduce(parts.first) { whole, part in whole.map { $0 || part } }
    )
    var few = FetchDescriptor(predicate: any)
    few.predicate = (parts[0] || parts[1]) || (parts[2] || parts[3])
    let plan = try context.explain(few)
    #expect(plan.accesses.map(\.path) == [.either([.index(["subject"]), .index(["day"])])])
    let matching = mails.filter {
      ($0.number % 211).isMultiple(of: 2) && $0.number % 211 < 200
        || !$0.day.isMultiple(of: 2) && $0.day < 200
    }
    #expect(
      try numbers(FetchDescriptor(predicate: any)).sorted() == matching.map(\.number).sorted()
    )
  }
}
