import Foundation
import SwiftData
import Testing

@MainActor
@Suite(.timeLimit(.minutes(30))) struct `Continuous observation` {
  /// Waits for something the main actor does at a later turn.
  private func turns(until isDone: () -> Bool) async {
    while !isDone() { await Task.yield() }
  }

  @Test func `tells a model of its own changes, and which`() async throws {
    let store = try TestStore(.memory, NewestSession.Activity.self)
    let activity = NewestSession.Activity(name: "Swim")
    store.container.mainContext.insert(activity)
    NewestSession.follow(activity)
    // The first event is the beginning, at a later turn.
    await turns {
      activity.name = "Ski"; return activity.dateEdited != nil
    }
    #expect(try #require(activity.dateEdited) < .distantFuture)
    activity.isComplete = true
    await turns { activity.dateEdited == .distantFuture }
    #expect(activity.dateEdited == .distantFuture)
  }

  @Test func `follows a fetch until its token goes`() async throws {
    let store = try TestStore(.memory, NewestSession.Activity.self)
    let names = try NewestSession.Names(modelContext: store.container.mainContext)
    await turns { names.updates == 1 }
    store.container.mainContext.insert(NewestSession.Activity(name: "Swim"))
    await turns { names.names == ["Swim"] }
    #expect(names.names == ["Swim"])
    let other = store.makeContext()
    other.insert(NewestSession.Activity(name: "Ski"))
    try other.save()
    await turns { names.names == ["Ski", "Swim"] }
    #expect(names.names == ["Ski", "Swim"])
    names.stop()
    let updates = names.updates
    // A second one hears of the same change, at the turn at which the first would have.
    let witness = try NewestSession.Names(modelContext: store.container.mainContext)
    await turns { witness.updates == 1 }
    store.container.mainContext.insert(NewestSession.Activity(name: "Walk"))
    await turns { witness.names == ["Ski", "Swim", "Walk"] }
    #expect(names.updates == updates)
  }

  #if compiler(<6.4)
  @Test func `joins the changes of one turn, and ends with its event or token`() async {
    let counter = Counter()
    var events: [String] = []
    let token = withContinuousObservation(options: [.willSet, .didSet]) { event in
      events.append(
        "\(counter.a) \(counter.b) \(event.matches(\Counter.a)) \(event.matches(\Counter.b))"
      )
      if event.kind == .initial { events.append("initial") }
      if counter.a == 9 { event.cancel() }
    }
    await turns { events.count == 2 }
    counter.a = 1
    counter.b = 1
    await turns { events.count == 3 }
    counter.b = 2
    await turns { events.count == 4 }
    counter.a = 9
    await turns { events.count == 5 }
    // Another observation hears of the same change, at the turn at which the first would have.
    var last = 0
    let witness = withContinuousObservation(options: [.didSet]) { _ in last = counter.a }
    await turns { last == 9 }
    counter.a = 10
    await turns { last == 10 }
    witness.cancel()
    #expect(
      events == [
        "0 0 false false", "initial", "1 1 true true", "1 2 false true", "9 2 true false",
      ]
    )
    token.cancel()
  }

  @Test(arguments: 1...8)
  func `misses no last change of another thread`(seed: Int) async {
    let counter = Counter()
    var last = -1
    let token = withContinuousObservation(options: .didSet) { _ in last = counter.shared }
    await Task.detached {
      for number in 1...1_000 * seed { counter.shared = number }
    }.value
    await turns { last == 1_000 * seed }
    #expect(last == 1_000 * seed)
    token.cancel()
  }

  @Test func `options are a set`() {
    var options: ObservationTracking.Options = [.willSet]
    #expect(options.contains(.willSet) && !options.contains(.didSet))
    #expect(options.insert(.didSet).inserted && !options.insert(.didSet).inserted)
    #expect(options == [.didSet, .willSet])
    #expect(options.remove(.willSet) == .willSet && options == .didSet)
    #expect(options.isDisjoint(with: .willSet))
  }
  #endif
}

/// Two properties for the main actor, and one that any thread may set.
@Observable
final class Counter: @unchecked Sendable {
  var a = 0
  var b = 0
  @ObservationIgnored private let lock = NSLock()
  @ObservationIgnored private var stored = 0
  var shared: Int {
    get {
      access(keyPath: \.shared)
      return lock.withLock { stored }
    }
    set { withMutation(keyPath: \.shared) { lock.withLock { stored = newValue } } }
  }
}
