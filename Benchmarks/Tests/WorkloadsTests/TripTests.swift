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

  @Test(arguments: [0, 254, 255, 256, 1000])
  func `comes back with a note of any length`(length: Int) {
    var coding = PlainCoding()
    var record = generator.record(1)
    record.note = String(repeating: "n", count: length)
    let bytes = coding.encode(record)
    record.id = 0
    #expect(PlainCoding.decode(bytes) == record)
    #expect(PlainCoding.destination(bytes).elementsEqual(record.destination.utf8))
  }

  @Test func `has another checksum when an attribute differs`() {
    var record = generator.record(1)
    let before = record.checksum
    record.rating += 1
    #expect(record.checksum != before)
  }
}

@Suite struct `A wide trip` {
  private let trips = WideTrips()

  @Test func `is a function of its key alone`() {
    #expect(trips.record(7) == WideTrips().record(7))
    #expect(trips.record(7).note != trips.record(8).note)
    #expect(trips.record(7).name != trips.record(7 + 4096).name)
  }

  @Test func `weighs 1,080 bytes on average when written plainly`() {
    var coding = PlainCoding()
    let sum = (1...10_000).reduce(0) { $0 + coding.encode(trips.record($1)).count }
    #expect((WideTrips.byteCount - 10...WideTrips.byteCount + 10).contains(sum / 10_000))
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

@Suite struct `The earliest trips` {
  @Test(arguments: [1, 2, 7, 100, 1000])
  func `are those that sorting finds`(count: Int) {
    var random = SplitMix64(seed: 3)
    let starts = (0..<1000).map { _ in Double(random.next(below: 1_000_000)) }
    var earliest = EarliestTrips(count)
    for (key, start) in starts.enumerated() { earliest.offer(UInt64(key), start: start) }
    let found = earliest.keys.map { starts[Int($0)] }.sorted()
    #expect(found == Array(starts.sorted().prefix(count)))
  }
}

@Suite struct `Scattered trips` {
  private let trips = ScatteredTrips(count: 30_000)

  @Test func `come in batches under keys from 1 without gaps`() {
    let keys = trips.batches.flatMap { $0.records.map(\.id) }
    #expect(keys == Array(1...30_000))
  }

  @Test func `have sums and counts that looking at each finds, too`() {
    let all = trips.batches.flatMap(\.records)
    let wanted = trips.wantedDestination
    #expect(trips.matchCount == all.count { $0.destination == wanted && $0.rating > 3 })
    let earliest = all.sorted { $0.startDate < $1.startDate }.prefix(100)
    #expect(trips.earliestSum(100) == earliest.reduce(0) { $0 + $1.checksum })
    #expect(trips.firstSum(50) == all.prefix(50).reduce(0) { $0 + $1.checksum })
  }
}
