import LogEngineTestSupport
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `The mark of a commit` {
  private func marks(_ engine: StorageEngine) throws -> [CommitMark?] {
    try (0...(engine.lastCommit.rawValue + 1)).map { try engine.mark(of: CommitSequence($0)) }
  }

  @Test
  func
    `is there for each commit of the log, and the same after the store was closed, read on and opened again`()
    throws
  {
    let store = try SimulatedStore()
    for count in 1...300 { try store.insert(count % 7 + 1) }
    let before = try marks(store.engine)
    #expect(before.first == .some(nil) && before.last == .some(nil))
    let known = before.compactMap(\.self)
    #expect(known.count == before.count - 2 && Set(known).count == known.count)
    // Whatever was read before: places that were noted then are no other commits.
    try store.engine.forEachCommit { _ in .proceed }
    #expect(try marks(store.engine) == before)
    for (number, mark) in before.enumerated() {
      let commit = CommitSequence(UInt64(number))
      guard let mark else { continue }
      #expect(try store.engine.isMark(mark, of: commit))
      #expect(try !store.engine.isMark(mark, of: CommitSequence(commit.rawValue + 1)))
      #expect(
        try !store.engine.isMark(
          CommitMark(value: mark.value ^ 1, segment: mark.segment, offset: mark.offset),
          of: commit
        )
      )
      for offset in [Int.max, .min, mark.offset + 8, mark.offset + 1, 0, 1 << 30] {
        let other = CommitMark(value: mark.value, segment: mark.segment, offset: offset)
        #expect(try !store.engine.isMark(other, of: commit))
      }
      let elsewhere = CommitMark(
        value: mark.value,
        segment: SegmentID(rawValue: 77),
        offset: mark.offset
      )
      #expect(try !store.engine.isMark(elsewhere, of: commit))
    }
    #expect(try marks(store.engine) == before)
    try store.engine.close()
    var next = try SimulatedStore(on: store.disk)
    #expect(try marks(next.engine) == before)
    try next.insert(1)
    try next.engine.close()
    next = try SimulatedStore(on: next.disk)
    #expect(try marks(next.engine).dropLast(2) == before.dropLast())
  }

  @Test func `differs between two copies of a store that went on by themselves`() throws {
    let store = try SimulatedStore()
    try store.insert(5)
    try store.engine.close()
    let one = try SimulatedStore(on: store.disk)
    let other = try SimulatedStore(on: store.disk)
    try one.insert(1)
    try other.insert(2)
    let last = one.engine.lastCommit
    #expect(other.engine.lastCommit == last)
    #expect(try one.engine.mark(of: last) != other.engine.mark(of: last))
    let shared = CommitSequence(last.rawValue - 1)
    #expect(try one.engine.mark(of: shared) == other.engine.mark(of: shared))
    #expect(try one.engine.mark(of: shared) != nil)
  }

  @Test func `is there for the last commit when all was packed, and for no earlier one`() throws {
    let store = try SimulatedStore()
    for _ in 1...20 { try store.insert(30) }
    try store.engine.compact()
    let last = store.engine.lastCommit
    #expect(store.engine.lastCommitBeforeHistory == last)
    let mark = try store.engine.mark(of: last)
    #expect(mark != nil)
    #expect(try store.engine.mark(of: CommitSequence(last.rawValue - 1)) == nil)
    try store.engine.close()
    let next = try SimulatedStore(on: store.disk).engine
    #expect(try next.mark(of: last) == mark)
    #expect(try next.isMark(#require(mark), of: last))
  }
}
