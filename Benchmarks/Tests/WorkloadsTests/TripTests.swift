import Testing
import Workloads

@Suite struct `A trip` {
  private let generator = TripGenerator()

  @Test func `is a function of its key alone`() {
    #expect(generator.record(7) == TripGenerator().record(7))
    #expect(generator.record(7) != generator.record(8))
  }

  @Test func `weighs 172 bytes on average when written plainly`() {
    var coding = PlainCoding()
    let sum = generator.records(0..<10_000).reduce(0) { $0 + coding.encode($1).count }
    #expect((168...176).contains(sum / 10_000))
  }

  @Test(arguments: [0, 1, 2, 3] as [UInt64])
  func `comes back from its bytes`(key: UInt64) {
    var coding = PlainCoding()
    var record = generator.record(key)
    let bytes = coding.encode(record)
    record.id = 0
    #expect(PlainCoding.decode(bytes) == record)
    #expect(PlainCoding.rating(bytes) == record.rating)
    #expect(PlainCoding.destination(bytes).elementsEqual(record.destination.utf8))
  }

  @Test func `has another checksum when an attribute differs`() {
    var record = generator.record(1)
    let before = record.checksum
    record.rating += 1
    #expect(record.checksum != before)
  }
}

@Suite struct `Random keys` {
  @Test func `do not come twice within a commit`() {
    var random = RandomKeys(count: 20, seed: 1)
    let keys = random.next(1000, distinctWithin: 10)
    for first in stride(from: 0, to: keys.count, by: 10) {
      #expect(Set(keys[first..<first + 10]).count == 10)
    }
    #expect(Set(keys) == Set(1...20))
  }
}
