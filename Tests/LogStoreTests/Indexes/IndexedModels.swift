import LogStore
import SwiftData

enum Rank: String, Codable, CaseIterable { case low, middle, high }

@Model class Measurement {
  #Index<Measurement>(
    [\.value],
    [\.place],
    [\.place, \.level],
    [\.taken],
    [\.rank],
    [\.note],
    [\.code]
  )
  var value: Int
  var place: String
  var level: Double
  var taken: Date
  var rank: Rank = Rank.low
  var note: String?
  var code: UUID?
  var other: Int = 0

  init(_ value: Int, place: String, level: Double, taken: Date) {
    self.value = value
    self.place = place
    self.level = level
    self.taken = taken
  }
}

@available(macOS 26, iOS 26, *)
@Model final class Calibration: Measurement {
  var device: String = ""

  override init(_ value: Int, place: String, level: Double, taken: Date) {
    super.init(value, place: place, level: level, taken: taken)
  }
}

let indexedSchema = Schema([Measurement.self, Calibration.self])
