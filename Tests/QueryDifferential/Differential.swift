import Foundation
import ModelRuntime
import Synchronization

/// Asks stores random questions, and compares their answers with an oracle's.
///
/// Everything follows from a seed: the records, where their rows stand, what is unsaved, the questions. A question is a
/// case on each call it is asked by.
public struct Differential {
  /// A question whose answer was not what it should be.
  public struct Disagreement: CustomStringConvertible, Sendable {
    /// What was asked, how, and what was answered instead of what.
    public let description: String
  }

  /// How many questions there were.
  public private(set) var questionCount = 0
  /// How many cases there were: each question is one on each call it is asked by.
  public private(set) var caseCount = 0
  /// What went wrong.
  public private(set) var disagreements: [Disagreement] = []

  /// Begins with no case.
  public init() {}

  /// Makes a store from a seed and asks it.
  ///
  /// - Parameters:
  ///   - seed: The seed.
  ///   - pieceCount: About how many rows the store has.
  ///   - questionCount: How many questions it is asked in each state.
  ///   - makePlace: Makes the place of the store.
  /// - Throws: What the store throws other than as an answer.
  public mutating func run(
    seed: UInt64,
    pieceCount: Int,
    questionCount: Int,
    at makePlace: (Packing) throws -> any ShelfPlace
  ) throws {
    var random = Chance(seed: seed)
    let packing = random.pick(Packing.allCases)
    let shelf = try Shelf(packing, at: makePlace(packing), count: pieceCount, &random)
    for unsaved in [Shelf.Unsaved.nothing, random.pick(Shelf.Unsaved.allCases), .everything] {
      let deskSeed = random.next()
      var deskRandom = Chance(seed: deskSeed)
      let desk = try shelf.desk(unsaved, &deskRandom)
      for _ in 0..<questionCount {
        // A predicate that needs objects sees what is unsaved of other models, and others do not.
        let mayNeedObjects = unsaved != .others && unsaved != .everything
        let question = Question.random(
          &random,
          mayNeedObjects: mayNeedObjects,
          makers: desk.makerIdentifiers
        )
        ask(question, of: desk, shelf, "seed \(seed), \(shelf.packing), unsaved \(unsaved)")
      }
    }
  }

  private mutating func ask(
    _ question: Question,
    of desk: Desk,
    _ shelf: Shelf,
    _ circumstances: String
  ) {
    questionCount += 1
    for call in Call.allCases {
      caseCount += 1
      guard let found = Self.difference(question, call, desk, shelf) else { continue }
      // The first simpler question that still shows it, and so on.
      var (simplest, difference) = (question, found)
      var isSimpler = true
      while isSimpler {
        isSimpler = false
        for next in simplest.simpler {
          guard let found = Self.difference(next, call, desk, shelf) else { continue }
          (simplest, difference, isSimpler) = (next, found, true)
          break
        }
      }
      disagreements.append(
        Disagreement(description: "\(circumstances), \(call):\n\(simplest.swift)\n\(difference)")
      )
    }
  }

  /// What a call answers instead of what it should, or `nil` if it does.
  private static func difference(
    _ question: Question,
    _ call: Call,
    _ desk: Desk,
    _ shelf: Shelf
  ) -> String? {
    let truth = desk.truth
    let expected = call.expected(question, on: truth, rowOrder: shelf.rowOrder(of: truth.saved))
    do {
      let found = try call.answer(question, in: desk.context, saved: truth.saved)
      if found == expected { return nil }
      if call == .count { return "counted \(found.count), expected \(expected.count)" }
      return "found \(found), expected \(expected)"
    } catch {
      return "threw \(error), expected \(expected)"
    }
  }
}

// MARK: Two threads

extension Differential {
  /// Asks a store on one thread while another saves: each answer must be right for one of the states that were current
  /// while it was asked.
  ///
  /// - Parameters:
  ///   - seed: The seed.
  ///   - pieceCount: About how many rows the store has.
  ///   - saveCount: How many times the other thread saves.
  ///   - makePlace: Makes the place of the store.
  /// - Throws: What the store throws.
  public mutating func runBesideSaves(
    seed: UInt64,
    pieceCount: Int,
    saveCount: Int,
    at makePlace: (Packing) throws -> any ShelfPlace
  ) throws {
    var random = Chance(seed: seed)
    let packing = random.pick(Packing.allCases)
    let shelf = try Shelf(packing, at: makePlace(packing), count: pieceCount, &random)
    let writer = Writer(shelf, Chance(seed: random.next()))
    writer.start(saveCount)
    repeat {
      // Objects that are asked, and those found by their identifiers, read rows of their own time.
      let question = Question.random(&random, mayNeedObjects: false)
      questionCount += 1
      for call in [Call.fetch, .count] {
        caseCount += 1
        // A context of its own for each: what one has read it may answer with again.
        let context = ModelContext(shelf.container)
        let begin = writer.savedCount
        let found = try call.answer(question, in: context, saved: World())
        let states = writer.states(from: begin)
        let isRight = states.contains { state in
          let rows = shelf.rowOrder(of: state)
          return call.expected(question, on: Truth(saved: state), rowOrder: rows) == found
        }
        if isRight { continue }
        let last = begin + states.count - 1
        disagreements.append(
          Disagreement(
            description: """
              seed \(seed), \(packing), beside saves, \(call):
              \(question.swift)
              found \(found), which is right in none of the states \(begin) to \(last)
              """
          )
        )
      }
    } while !writer.isOver
    if let error = writer.error { throw error }
  }
}

/// Saves on a thread of its own, and says which states the store has, had or may have.
///
/// Unchecked, because the shelf's records are that thread's alone while it runs; the rest is behind the lock.
private final class Writer: @unchecked Sendable {
  private struct Progress {
    var states: [World]
    /// The position of the last state that is saved for certain.
    var savedCount = 0
    var isOver = false
    var error: (any Error)?
  }

  private let shelf: Shelf
  private var random: Chance
  private let progress: Mutex<Progress>

  init(_ shelf: Shelf, _ random: Chance) {
    self.shelf = shelf
    self.random = random
    progress = Mutex(Progress(states: [shelf.saved]))
  }

  var savedCount: Int { progress.withLock { $0.savedCount } }
  var isOver: Bool { progress.withLock { $0.isOver } }
  var error: (any Error)? { progress.withLock { $0.error } }

  /// The states the store may have had since one was current.
  func states(from first: Int) -> [World] { progress.withLock { Array($0.states[first...]) } }

  func start(_ saveCount: Int) {
    Thread { self.run(saveCount) }.start()
  }

  private func run(_ saveCount: Int) {
    do {
      for _ in 0..<saveCount {
        try shelf.save(inserting: 4, &random) { next in
          progress.withLock { $0.states.append(next) }
        }
        progress.withLock { $0.savedCount += 1 }
      }
    } catch {
      progress.withLock { $0.error = error }
    }
    progress.withLock { $0.isOver = true }
  }
}
