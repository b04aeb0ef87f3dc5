import Foundation
import Testing
import Workloads

@Suite struct `Large values` {
  // One for all: it draws eight megabytes at random.
  private static let values = LargeValues()
  private var values: LargeValues { Self.values }

  @Test(arguments: 0..<200)
  func `are of 1 KiB to 4 MiB, and known again`(number: Int) {
    for version in 0...1 {
      let value = values.value(number, version: version)
      #expect(1 << 10...4 << 20 ~= value.count)
      #expect(value.count == values.byteCount(number, version: version))
      #expect(values.isValue(value, number, version: version))
      #expect(!values.isValue(value, number, version: 1 - version))
      #expect(!values.isValue(value.dropLast(), number, version: version))
    }
  }

  @Test func `are spread over the orders of magnitude`() {
    let small = (0..<1000).count { values.byteCount($0, version: 0) < 64 << 10 }
    #expect(400...600 ~= small)
  }
}
