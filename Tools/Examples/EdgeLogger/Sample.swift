import SwiftData

@Model
final class Sample {
  #Index<Sample>([\.sensor, \.time], [\.time])

  var sensor: String
  var time: Date
  var value: Double

  init(sensor: String, time: Date, value: Double) {
    self.sensor = sensor
    self.time = time
    self.value = value
  }
}
