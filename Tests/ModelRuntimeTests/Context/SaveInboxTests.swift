import RowFormat
import Testing

@testable import ModelRuntime

@Suite struct `The inbox of a context that is not used` {
  private func inbox(afterSaves count: Int, rowsEach: Int = 1) -> SaveInbox {
    let inbox = SaveInbox(nil, arrival: {})
    for number in 0..<count {
      let rows = (0..<rowsEach).map { RowReference(table: 1, key: UInt64(number * rowsEach + $0)) }
      _ = inbox.note([SavedRows(connectionIndex: number % 2, updated: rows)])
    }
    return inbox
  }

  @Test(arguments: [1025, 5000, 100_000])
  func `says of many saves only that there were some`(count: Int) {
    let inbox = inbox(afterSaves: count)
    let saves = (0..<2).map { inbox.take(of: $0, upTo: nil) }
    #expect(saves[0].count + saves[1].count <= SaveInbox.saveLimit)
    #expect(saves.allSatisfy { $0.first?.isComplete == false })
    #expect(!inbox.hasArrivals())
  }

  @Test func `lists a few saves one by one`() {
    let inbox = inbox(afterSaves: 1000, rowsEach: 3)
    let saves = inbox.take(of: 0, upTo: nil) + inbox.take(of: 1, upTo: nil)
    #expect(saves.count == 1000)
    #expect(saves.allSatisfy { $0.isComplete })
    #expect(saves.reduce(0) { $0 + $1.updated.count } == 3000)
  }
}

@Suite struct `The inbox of a context whose siblings announce their saves` {
  private let inbox = SaveInbox(nil, arrival: {})

  private func rows(_ key: UInt64, in store: Int = 0, _ commit: UInt64? = nil) -> SavedRows {
    let row = RowReference(table: 1, key: key)
    return SavedRows(connectionIndex: store, updated: [row], commit: commit)
  }

  private func keys(upTo commit: UInt64?, of store: Int = 0) -> [UInt64] {
    inbox.take(of: store, upTo: commit).flatMap { $0.updated.map(\.key) }
  }

  @Test func `has arrivals only once saves have ended`() {
    inbox.expect(rows(1, 1))
    #expect(!inbox.hasArrivals())
    #expect(inbox.confirm(1, of: 0) != nil)
    #expect(inbox.hasArrivals())
    #expect(keys(upTo: nil) == [1])
    #expect(!inbox.hasArrivals())
  }

  @Test func `gives what a state has, whether it has ended or not`() {
    for commit in 1...4 as ClosedRange<UInt64> { inbox.expect(rows(commit, commit)) }
    _ = inbox.confirm(2, of: 0)
    _ = inbox.confirm(4, of: 0)
    #expect(keys(upTo: 3) == [1, 2, 3])
    #expect(inbox.hasArrivals())
    #expect(inbox.confirm(3, of: 0) == nil)
    #expect(keys(upTo: 4) == [4])
    #expect(!inbox.hasArrivals())
  }

  @Test func `keeps the stores apart`() {
    inbox.expect(rows(1, in: 0, 5))
    inbox.expect(rows(2, in: 1, 5))
    _ = inbox.confirm(5, of: 1)
    #expect(keys(upTo: 9) == [1])
    #expect(keys(upTo: nil) == [])
    #expect(keys(upTo: nil, of: 1) == [2])
  }

  @Test func `leaves what has no number until a state is read that was made later`() {
    _ = inbox.note([rows(1)])
    #expect(keys(upTo: 9) == [])
    #expect(inbox.hasArrivals())
    _ = inbox.note([rows(2)])
    #expect(keys(upTo: 9) == [1])
    #expect(inbox.hasArrivals())
    #expect(keys(upTo: 9) == [2])
  }

  @Test func `leaves what another process saved after the state`() {
    _ = inbox.note([rows(1, 5)])
    #expect(inbox.hasArrivals())
    #expect(keys(upTo: 4) == [])
    #expect(keys(upTo: 5) == [1])
  }

  @Test func `forgets a save that fails`() {
    inbox.expect(rows(1, 1))
    inbox.expect(rows(2, 2))
    inbox.withdraw(1, of: 0)
    #expect(keys(upTo: 2) == [2])
  }

  @Test func `keeps expected saves apart from many others`() {
    inbox.expect(rows(7, 7))
    for key in 0...UInt64(SaveInbox.saveLimit) { _ = inbox.note([rows(key)]) }
    let folded = inbox.take(of: 0, upTo: nil)
    #expect(folded.count == 1 && folded[0].isComplete == false)
    #expect(keys(upTo: 7) == [7])
  }
}
