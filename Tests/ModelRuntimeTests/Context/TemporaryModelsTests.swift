import Testing

@testable import ModelRuntime

@Model private final class Draft {
  var number: Int

  init(_ number: Int) { self.number = number }
}

@Suite struct `The unsaved models by their temporary keys` {
  @Test(arguments: [UInt64(3), 40, 1000])
  func `are those that a dictionary holds`(keyCount: UInt64) {
    var models = TemporaryModels()
    var dictionary: [UInt64: Draft] = [:]
    var state: UInt64 = 17
    for step in 0..<2000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let key = (state >> 33) % keyCount
      if state >> 57 == 0 {
        models.removeAll { ($0 as? Draft)?.number.isMultiple(of: 3) == true }
        dictionary = dictionary.filter { !$0.value.number.isMultiple(of: 3) }
      } else {
        let draft = Draft(step)
        models[key] = draft
        dictionary[key] = draft
      }
      #expect(models[key] as? Draft === dictionary[key])
      #expect(models.isEmpty == dictionary.isEmpty)
    }
    for key in 0..<(keyCount + 20) { #expect(models[key] as? Draft === dictionary[key]) }
    models.removeAll()
    #expect(models.isEmpty)
  }
}
