import Foundation
import ModelRuntime
import Observation
import Synchronization
import Testing

/// Runs `change` after `read` was tracked; whether the observer was called.
private func isNotified(reading read: () -> Void, by change: () -> Void) -> Bool {
  let notified = Mutex(false)
  withObservationTracking(read) { notified.withLock { $0 = true } }
  change()
  return notified.withLock { $0 }
}

@Suite struct `An observer of a model` {
  let book = Book(title: "Cosmicomics")
  let author = Author(name: "Calvino")

  @Test func `is notified that a value changes`() {
    #expect(isNotified(reading: { _ = book.title }, by: { book.title = "t zero" }))
    #expect(isNotified(reading: { _ = book.pages }, by: { book.pages += 1 }))
    #expect(isNotified(reading: { _ = book.rating }, by: { book.rating = 4 }))
    #expect(isNotified(reading: { _ = book.genre }, by: { book.genre = .travel }))
    #expect(isNotified(reading: { _ = book.tags }, by: { book.tags.append("moon") }))
  }

  @Test func `is notified that a relationship changes, from either end`() {
    #expect(isNotified(reading: { _ = book.author }, by: { book.author = author }))
    #expect(isNotified(reading: { _ = author.books }, by: { book.author = nil }))
    #expect(isNotified(reading: { _ = book.author }, by: { author.books = [book] }))
    #expect(isNotified(reading: { _ = author.books }, by: { author.books.removeAll() }))
  }

  @Test func `is notified of inherited properties`() {
    let sub = ObservedSub()
    #expect(isNotified(reading: { _ = sub.base }, by: { sub.base = 2 }))
    #expect(isNotified(reading: { _ = sub.own }, by: { sub.own = 2 }))
    #expect(isNotified(reading: { _ = sub.base }, by: { (sub as ObservedBase).base = 3 }))
  }

  @Test func `is not notified of properties it did not read, nor of another model`() {
    #expect(!isNotified(reading: { _ = book.title }, by: { book.pages = 3 }))
    #expect(!isNotified(reading: { _ = book.title }, by: { Book(title: "").title = "x" }))
    #expect(!isNotified(reading: { book.title = "set only" }, by: { book.title = "x" }))
  }

  @Test func `is notified once`() {
    let count = Mutex(0)
    withObservationTracking {
      _ = book.title
    } onChange: {
      count.withLock { $0 += 1 }
    }
    book.title = "a"
    book.title = "b"
    #expect(count.withLock { $0 } == 1)
  }

  @Test func `is notified before the change, as Observation does`() {
    let seen = Mutex("")
    nonisolated(unsafe) let book = book
    withObservationTracking {
      _ = book.title
    } onChange: {
      let title = book.title
      seen.withLock { $0 = title }
    }
    book.title = "t zero"
    #expect(seen.withLock { $0 } == "Cosmicomics")
  }

  @Test func `can be served by hand`() {
    let model = HandObserved()
    #expect(isNotified(reading: { _ = model.sum }, by: { model.add(2) }))
  }

  @Test func `costs nothing as long as there is none`() {
    book.title = "t zero"
    _ = book.title
    #expect(!book._$state.isObserved)
    withObservationTracking {
      _ = book.title
    } onChange: {
    }
    #expect(book._$state.isObserved)
  }
}

@Model class ObservedBase {
  var base = 1
  init() {}
}

@Model final class ObservedSub: ObservedBase {
  var own = 1
  override init() { super.init() }
}

/// A model with a property that it observes itself.
@Model final class HandObserved {
  @Transient private var numbers: [Int] = []
  var title = ""

  var sum: Int {
    access(keyPath: \.sum)
    return numbers.reduce(0, +)
  }

  func add(_ number: Int) {
    withMutation(keyPath: \.sum) { numbers.append(number) }
  }

  init() {}
}
