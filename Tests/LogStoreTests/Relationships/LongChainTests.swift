import Foundation
import LogEngineTestSupport
import LogStore
import SwiftData
import Synchronization
import Testing

/// A message that initializers link to others: to the one it answers, or to its answers.
///
/// They do so before all properties are set: afterwards the setters would make the links, each at once.
@Model private final class Mail {
  var answered: Mail?
  @Relationship(inverse: \Mail.answered) var answers: [Mail]
  var number: Int

  init(_ number: Int, answering answered: Mail? = nil, answers: [Mail] = []) {
    self.answered = answered
    self.answers = answers
    self.number = number
  }
}

/// A link that leads to the next one only.
@Model private final class Bead {
  var number: Int
  var next: Bead?

  init(_ number: Int) { self.number = number }
}

/// Graphs that a walk by recursion would overflow the stack with.
@Suite struct `A long chain of models` {
  enum Direction: CaseIterable {
    case down, up
  }

  private static let length = 100_000

  private let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: Schema([Mail.self, Bead.self]),
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
  }

  /// Runs on a thread with as small a stack as tasks may have.
  private func onSmallStack<R: Sendable>(_ body: @escaping @Sendable () throws -> R) throws -> R {
    let result = Outcome<R>()
    let isDone = DispatchSemaphore(value: 0)
    let thread = Thread {
      result.set(Result(catching: body))
      isDone.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    isDone.wait()
    return try result.get()
  }

  private final class Outcome<R: Sendable>: Sendable {
    private let result = Mutex<Result<R, any Error>?>(nil)

    func set(_ outcome: Result<R, any Error>) { result.withLock { $0 = outcome } }

    func get() throws -> R {
      guard let result = result.withLock({ $0 }) else { throw CancellationError() }
      return try result.get()
    }
  }

  /// Makes a chain that initializers have linked; the model made last is the only one that leads to others.
  private static func makeChain(_ direction: Direction) -> Mail {
    var last = Mail(0)
    for number in 1..<length {
      switch direction {
      case .down: last = Mail(number, answering: last)
      case .up: last = Mail(number, answers: [last])
      }
    }
    return last
  }

  /// The number of steps along a chain.
  private static func length(from first: Mail, _ direction: Direction) -> Int {
    var count = 1
    var mail = first
    while let next = direction == .down ? mail.answered : mail.answers.first {
      count += 1
      mail = next
    }
    return count
  }

  @Test(arguments: Direction.allCases, [false, true])
  func `is inserted by its end, whether or not that was read before`(
    direction: Direction,
    isRead: Bool
  ) throws {
    let (count, length) = try onSmallStack { [container] in
      let last = Self.makeChain(direction)
      if isRead { _ = direction == .down ? last.answered?.number : last.answers.first?.number }
      let context = ModelContext(container)
      context.insert(last)
      return (context.insertedModelsArray.count, Self.length(from: last, direction))
    }
    #expect(count == Self.length)
    #expect(length == Self.length)
  }

  @Test func `is let go of after its lists were read`() throws {
    let length = try onSmallStack { [container] in
      do {
        let context = ModelContext(container)
        context.insert(Self.makeChain(.down))
        try context.save()
      }
      let context = ModelContext(container)
      var first = FetchDescriptor<Mail>(predicate: #Predicate { $0.number == 0 })
      first.fetchLimit = 1
      weak var root: Mail?
      let length = try context.fetch(first).first.map { mail in
        root = mail
        return Self.length(from: mail, .up)
      }
      return root == nil ? length : nil
    }
    #expect(length == Self.length)
  }

  @Test func `is let go of in no context`() throws {
    let isGone = try onSmallStack {
      var first: Bead? = Bead(0)
      var last = first
      for number in 1..<Self.length {
        let bead = Bead(number)
        last?.next = bead
        last = bead
      }
      weak let end = last
      last = nil
      first = nil
      return first == nil && end == nil
    }
    #expect(isGone)
  }

  /// Chains in which some links are made by initializers and some by setters, from either end.
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `is related at both ends, whoever has linked it`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var mails = [Mail(0)]
    var parents: [Mail?] = [nil]
    for number in 1..<300 {
      // Mostly the one before, so that the chains are long.
      let parent = mails[max(0, number - Int.random(in: 1...3, using: &random))]
      let mail: Mail
      switch Int.random(in: 0..<12, using: &random) {
      case 0:
        mail = Mail(number)
        mail.answered = parent
      case 1:
        mail = Mail(number, answering: parent)
        parent.answers.append(mail)
      default: mail = Mail(number, answering: parent)
      }
      mails.append(mail)
      parents.append(parent)
    }
    let context = ModelContext(container)
    for mail in mails.reversed() { context.insert(mail) }
    for (mail, parent) in zip(mails, parents) { #expect(mail.answered === parent, "seed \(seed)") }
    func check(_ mails: [Mail]) {
      for mail in mails {
        let answers = mail.answers.map(\.number)
        #expect(Set(answers).count == answers.count, "seed \(seed)")
        let expected = parents.indices.filter { parents[$0]?.number == mail.number }
        #expect(Set(answers) == Set(expected), "seed \(seed)")
      }
    }
    check(mails)
    try context.save()
    let stored = try ModelContext(container).fetch(FetchDescriptor<Mail>())
    #expect(stored.count == mails.count)
    check(stored)
  }
}
