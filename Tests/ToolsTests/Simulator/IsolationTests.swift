import Foundation
import Testing

@testable import Simulator

@Suite struct `A history of saves and fetches` {
  typealias Save = IsolationHistory.Save
  typealias Fetch = IsolationHistory.Fetch

  private func findings(
    _ saves: [Save],
    _ fetches: [Fetch],
    versions: [Int: [Int]]
  ) -> [IsolationHistory.Phenomenon] {
    let history = IsolationHistory(saves: saves, fetches: fetches, versions: versions)
    return history.findings().map(\.phenomenon)
  }

  @Test func `in which every fetch is one snapshot has nothing to find`() {
    let found = findings(
      [
        Save(writes: [0: 1, 1: 2], begin: 1, end: 4, isCommitted: true),
        Save(writes: [0: 3], begin: 2, end: 6, isCommitted: true),
      ],
      [
        Fetch(reads: [0: 0, 1: 0], begin: 1, end: 3),
        Fetch(reads: [0: 1, 1: 2], begin: 3, end: 5),
        Fetch(reads: [0: 3, 1: 2], begin: 7, end: 8),
      ],
      versions: [0: [0, 1, 3], 1: [0, 2]]
    )
    #expect(found == [])
  }

  @Test func `shows a fetch that saw half a save`() {
    let found = findings(
      [Save(writes: [0: 1, 1: 2], begin: 1, end: 9, isCommitted: true)],
      [Fetch(reads: [0: 1, 1: 0], begin: 1, end: 9)],
      versions: [0: [0, 1], 1: [0, 2]]
    )
    #expect(found == [.readSkew])
  }

  @Test func `shows a fetch that missed a save that had returned`() {
    let found = findings(
      [Save(writes: [0: 1], begin: 1, end: 2, isCommitted: true)],
      [Fetch(reads: [0: 0], begin: 3, end: 4)],
      versions: [0: [0, 1]]
    )
    #expect(found == [.readSkew])
  }

  @Test func `shows two fetches that saw two saves in different orders`() {
    let found = findings(
      [
        Save(writes: [0: 1], begin: 1, end: 9, isCommitted: true),
        Save(writes: [1: 2], begin: 1, end: 9, isCommitted: true),
      ],
      [
        Fetch(reads: [0: 1, 1: 0], begin: 1, end: 9),
        Fetch(reads: [0: 0, 1: 2], begin: 1, end: 9),
      ],
      versions: [0: [0, 1], 1: [0, 2]]
    )
    #expect(found == [.antidependency])
  }

  @Test func `shows saves that overwrote each other in a circle`() {
    let found = findings(
      [
        Save(writes: [0: 1, 1: 3], begin: 1, end: 9, isCommitted: true),
        Save(writes: [0: 2, 1: 4], begin: 1, end: 9, isCommitted: true),
      ],
      [],
      versions: [0: [0, 1, 2], 1: [0, 4, 3]]
    )
    #expect(found == [.dirtyWrite])
  }

  @Test func `shows what was read of saves that threw, and of values that were replaced`() {
    let found = findings(
      [
        Save(writes: [0: 1], begin: 1, end: 2, isCommitted: false),
        Save(writes: [1: 3], intermediate: [1: 2], begin: 1, end: 2, isCommitted: true),
      ],
      [Fetch(reads: [0: 1], begin: 1, end: 3), Fetch(reads: [1: 2], begin: 1, end: 3)],
      versions: [0: [0], 1: [0, 3]]
    )
    #expect(
      Set(found) == [.abortedRead, .intermediateRead, .unknownValue]
    )
  }

  @Test func `finds a circle in a long history`() {
    let count = 50_000
    var saves = (0..<count).map { number in
      Save(
        writes: [number % 4: number + 1],
        begin: UInt64(number * 2),
        end: UInt64(number * 2 + 1),
        isCommitted: true
      )
    }
    var versions = [0: [0], 1: [0], 2: [0], 3: [0]]
    for save in saves { for (register, value) in save.writes { versions[register]?.append(value) } }
    #expect(findings(saves, [], versions: versions) == [])
    // The first save of all ends last, and yet was overwritten long before.
    saves[0].begin = UInt64(count * 2)
    saves[0].end = UInt64(count * 2 + 1)
    #expect(findings(saves, [], versions: versions).count == 1)
  }
}
