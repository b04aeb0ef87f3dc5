import RowFormat
import Testing

@testable import ModelRuntime

@Suite struct `The identity map of a context` {
  /// Stands for an object without a state.
  private final class Fault {}

  /// What a test has registered for a row.
  private enum Known {
    case state(_ModelState)
    case fault(Fault)
  }

  /// Where the keys of a test's rows are.
  enum Keys: CaseIterable, CustomTestStringConvertible {
    case inOrder, scattered, ofDifferentBlocks, inTwoBlocksOfEachTable

    var testDescription: String { "keys \(self)" }

    func reference(_ number: UInt64) -> RowReference {
      switch self {
      case .inOrder: RowReference(table: 1, key: number)
      case .scattered: RowReference(table: 1, key: number &* 0x9E37_79B9 % 1_000_003)
      case .ofDifferentBlocks: RowReference(table: 1, key: number * 16 + number % 16)
      case .inTwoBlocksOfEachTable:
        RowReference(table: UInt16(1 + number / 32), key: number % 32)
      }
    }
  }

  @Test(arguments: Keys.allCases, [3, 40, 3000] as [UInt64])
  func `has of each row the object that was registered last`(_ keys: Keys, _ count: UInt64) throws {
    let container = try makeLibrary()
    let map = IdentityMap(try #require(container.coordinator.connections.first))
    var known: [RowReference: Known] = [:]
    var random = SeededGenerator(seed: 11)
    func expectKnown(_ reference: RowReference, _ when: String) {
      let occupant = map.occupant(at: reference)
      switch (known[reference], occupant) {
      case (nil, nil): break
      case (.state(let state), .state(let found)):
        #expect(found.toOpaque() == Unmanaged.passUnretained(state).toOpaque(), "\(when), seed 11")
      case (.fault(let fault), .fault(let found)):
        #expect(found.toOpaque() == Unmanaged.passUnretained(fault).toOpaque(), "\(when), seed 11")
      default: Issue.record("another object at \(reference), \(when), seed 11")
      }
    }
    for round in 0..<(20 * Int(count)) {
      let reference = keys.reference(random.next() % count)
      // It grows in the first half, and shrinks in the second.
      let isGrowing = round < 10 * Int(count)
      if random.next() % 4 < (isGrowing ? 3 : 1) {
        if random.next() % 2 == 0 {
          let state = _ModelState()
          map.insert(state, at: reference)
          known[reference] = .state(state)
        } else {
          let fault = Fault()
          map.insert(fault: Unmanaged<AnyObject>.passUnretained(fault), at: reference)
          known[reference] = .fault(fault)
        }
      } else {
        map.remove(_ModelState(), at: reference)
        expectKnown(reference, "another object's leave, round \(round)")
        switch known[reference] {
        case .state(let state):
          map.removeFault(at: reference)
          expectKnown(reference, "a fault's leave, round \(round)")
          map.remove(state, at: reference)
        case .fault, nil: map.removeFault(at: reference)
        }
        known[reference] = nil
      }
      #expect(map.count == known.count, "round \(round), seed 11")
      expectKnown(reference, "round \(round)")
      guard round % 997 == 0 || round == 10 * Int(count) else { continue }
      for number in 0..<count { expectKnown(keys.reference(number), "round \(round)") }
      let states = known.values.compactMap { known in
        if case .state(let state) = known { ObjectIdentifier(state) } else { nil }
      }
      #expect(
        map.states.map { ObjectIdentifier($0) }.sorted() == states.sorted(),
        "round \(round), seed 11"
      )
    }
  }

  @Test(arguments: [0, 1, 15, 16, 17, 100_000])
  func `has room for as many rows as was asked for`(count: Int) throws {
    let container = try makeLibrary()
    let map = IdentityMap(try #require(container.coordinator.connections.first))
    map.reserveCapacity(count)
    let state = _ModelState()
    for number in 0..<count { map.insert(state, at: RowReference(table: 1, key: UInt64(number))) }
    #expect(map.count == count)
    #expect(map.states.count == count)
    for number in 0..<count { map.remove(state, at: RowReference(table: 1, key: UInt64(number))) }
    #expect(map.count == 0)
    #expect(map.states.isEmpty)
  }
}
