import Testing

@testable import ModelRuntime

@Suite struct `A map by ordinals` {
  @Test(arguments: 1...6)
  func `holds what a dictionary holds`(ordinalCount: Int) {
    var map = OrdinalMap<Int>()
    var dictionary: [Int: Int] = [:]
    var state: UInt64 = 17
    for step in 0..<2000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let ordinal = Int(state >> 33) % ordinalCount
      let value = state >> 60 < 7 ? step : nil
      map[ordinal] = value
      dictionary[ordinal] = value
      #expect(map[ordinal] == value)
      #expect(map.count == dictionary.count)
      #expect(map.isEmpty == dictionary.isEmpty)
      let elements = map.elements.map { ($0.ordinal, $0.value) }
      #expect(Dictionary(uniqueKeysWithValues: elements) == dictionary)
    }
  }
}
