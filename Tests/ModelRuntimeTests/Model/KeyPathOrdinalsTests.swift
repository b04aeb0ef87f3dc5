import Foundation
import Testing

@testable import ModelRuntime

@Suite struct `Ordinals of key paths` {
  /// Key paths of one value type, each an object of its own as generic code makes them.
  private static func keyPaths(_ count: Int) -> [AnyKeyPath] {
    (0..<count).map { \[Int].[$0] }
  }

  @Test func `A key path that was remembered is found, and no other`() {
    let ordinals = KeyPathOrdinals()
    let keyPaths = Self.keyPaths(2)
    #expect(ordinals[keyPaths[0]] == nil)
    ordinals.remember(keyPaths[0], 7)
    #expect(ordinals[keyPaths[0]] == 7)
    #expect(ordinals[keyPaths[1]] == nil)
  }

  @Test func `A key path that is remembered again keeps its ordinal`() {
    let ordinals = KeyPathOrdinals()
    let keyPath = Self.keyPaths(1)[0]
    ordinals.remember(keyPath, 3)
    ordinals.remember(keyPath, 3)
    #expect(ordinals[keyPath] == 3)
  }

  @Test func `A full table remembers no more, and gives no wrong ordinal`() {
    let ordinals = KeyPathOrdinals()
    let keyPaths = Self.keyPaths(10 * KeyPathOrdinals.capacity)
    for (ordinal, keyPath) in keyPaths.enumerated() { ordinals.remember(keyPath, ordinal) }
    var foundCount = 0
    for (ordinal, keyPath) in keyPaths.enumerated() {
      guard let found = ordinals[keyPath] else { continue }
      #expect(found == ordinal)
      foundCount += 1
    }
    #expect(foundCount > 0 && foundCount <= KeyPathOrdinals.capacity)
  }

  @Test func `A key path that is remembered is kept while the table is`() {
    weak var kept: AnyKeyPath?
    do {
      let ordinals = KeyPathOrdinals()
      do {
        let keyPath = Self.keyPaths(1)[0]
        kept = keyPath
        ordinals.remember(keyPath, 1)
      }
      #expect(kept != nil)
      #expect(kept.map { ordinals[$0] } == 1)
    }
    #expect(kept == nil)
  }

  @Test func `Threads that remember and look up at once find right ordinals`() {
    let shared = Shared(Self.keyPaths(KeyPathOrdinals.capacity / 2))
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for round in 0..<shared.keyPaths.count {
        let index = (round * (2 * thread + 1)) % shared.keyPaths.count
        shared.ordinals.remember(shared.keyPaths[index], index)
        if let found = shared.ordinals[shared.keyPaths[index]] { #expect(found == index) }
      }
    }
    let found = shared.keyPaths.map { shared.ordinals[$0] }
    #expect(zip(found, found.indices).allSatisfy { $0 == nil || $0 == $1 })
    #expect(found.contains { $0 != nil })
  }

  /// Key paths that capture integers may be used by any thread.
  private final class Shared: @unchecked Sendable {
    let ordinals = KeyPathOrdinals()
    let keyPaths: [AnyKeyPath]

    init(_ keyPaths: [AnyKeyPath]) { self.keyPaths = keyPaths }
  }
}
