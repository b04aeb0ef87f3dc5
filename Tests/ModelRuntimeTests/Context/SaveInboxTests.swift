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
    let saves = inbox(afterSaves: count).takeAll()
    #expect(saves.count <= SaveInbox.saveLimit)
    #expect(saves.prefix(2).map(\.connectionIndex) == [0, 1])
    #expect(saves.prefix(2).allSatisfy { !$0.isComplete })
  }

  @Test func `lists a few saves one by one`() {
    let saves = inbox(afterSaves: 1000, rowsEach: 3).takeAll()
    #expect(saves.count == 1000)
    #expect(saves.allSatisfy { $0.isComplete })
    #expect(saves.reduce(0) { $0 + $1.updated.count } == 3000)
  }
}
