import LogStore
import SwiftData

@Model final class Dial {
  var value: Int
  var small: Int8
  var count: UInt64
  var note: String?
  var samples: [Int]

  init(_ value: Int, small: Int8 = 0, count: UInt64 = 0, note: String? = nil, samples: [Int] = []) {
    self.value = value
    self.small = small
    self.count = count
    self.note = note
    self.samples = samples
  }

  /// Not stored, so that a predicate that asks for it needs objects.
  var isCurious: Bool { true }
}

extension Dial: CustomStringConvertible {
  var description: String { "\(value), \(small), \(count), \(note ?? "-"), \(samples)" }
}
