import Harness
import Testing

@Suite struct `The durability of a workload` {
  @Test(arguments: Workload.allCases)
  func `is what its name promises`(workload: Workload) {
    if workload.rawValue.hasPrefix("durable") { #expect(workload.durability == .full) }
    if workload.rawValue.hasPrefix("relaxed") { #expect(workload.durability == .relaxed) }
    if workload.rawValue.hasSuffix("read") { #expect(workload.durability == nil) }
  }

  @Test func `has a name even where nothing is committed`() {
    #expect(Workload.durable1.durability.name == "full")
    #expect(Workload.update1.durability.name == "relaxed")
    #expect(Workload.scan.durability.name == "–")
  }
}
