import Testing

@testable import ModelRuntime

@Suite struct `A registry` {
  private final class Member {
    let number: Int

    init(_ number: Int) { self.number = number }
  }

  @Test(arguments: UInt64(1)...4)
  func `has its elements in the order of their addition`(seed: UInt64) {
    var state = seed
    func next(below bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    var registry = Registry<Int>()
    var members: [Member] = []
    for number in 0..<400 {
      if next(below: 5) < 3 || members.isEmpty {
        let member = Member(number)
        members.append(member)
        registry.append(number, as: ObjectIdentifier(member))
      } else {
        let member = members.remove(at: next(below: members.count))
        registry.remove(ObjectIdentifier(member))
        registry.remove(ObjectIdentifier(member))
      }
      #expect(Array(registry) == members.map(\.number), "seed \(seed)")
      #expect(registry.count == members.count)
    }
    for member in members { registry.remove(ObjectIdentifier(member)) }
    #expect(registry.isEmpty)
  }
}
