#if !canImport(Darwin)
import Foundation
import Testing

@testable import ModelRuntime

@Suite struct `An autorelease pool` {
  private struct Refusal: Error {}
  private struct Token: ~Copyable { let number: Int }

  @Test func `runs its closure, and returns what that returns`() {
    var count = 0
    for _ in 0..<3 { autoreleasepool { count += 1 } }
    #expect(count == 3)
    #expect(autoreleasepool(invoking: { "\(count)" }) == "3")
    let token = autoreleasepool { Token(number: 7) }
    #expect(token.number == 7)
  }

  @Test func `throws what its closure throws, and nothing else`() {
    func rethrown<R>(_ body: () throws -> R) rethrows -> R { try autoreleasepool(invoking: body) }
    #expect(throws: Refusal.self) { try autoreleasepool { throw Refusal() } }
    #expect(throws: Refusal.self) { try rethrown { throw Refusal() } }
    #expect(rethrown { 1 } == 1)
    func typed() throws(Refusal) { try autoreleasepool { () throws(Refusal) in throw Refusal() } }
    #expect(throws: Refusal.self) { try typed() }
  }
}
#endif
