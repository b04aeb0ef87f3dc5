import Harness
import Workloads

/// The operations of a thread, and their frequencies.
struct Mix: Sendable {
  enum Operation {
    case read, update, readAndUpdate, insert, scan
  }

  enum Keys {
    case zipfian, uniform
    /// Zipfian, counted back from the newest row.
    case latest
  }

  let workload: Workload
  let keys: Keys
  /// The kind of most operations, or of half of them.
  let common: Operation
  let other: Operation
  /// The share of the other ones, in percent.
  let otherPercent: Int

  static let all = [
    Mix(.ycsbA, .zipfian, .read, .update, 50),
    Mix(.ycsbB, .zipfian, .read, .update, 5),
    Mix(.ycsbC, .zipfian, .read, .read, 0),
    Mix(.ycsbF, .zipfian, .read, .readAndUpdate, 50),
    Mix(.ycsbAUniform, .uniform, .read, .update, 50),
    Mix(.ycsbCUniform, .uniform, .read, .read, 0),
    Mix(.ycsbADurable, .zipfian, .read, .update, 50),
    Mix(.ycsbBDurable, .zipfian, .read, .update, 5),
    Mix(.ycsbFDurable, .zipfian, .read, .readAndUpdate, 50),
    // Last, since they make the stores larger.
    Mix(.ycsbD, .latest, .read, .insert, 5),
    Mix(.ycsbDDurable, .latest, .read, .insert, 5),
    Mix(.ycsbE, .zipfian, .scan, .insert, 5),
  ]

  private init(
    _ workload: Workload,
    _ keys: Keys,
    _ common: Operation,
    _ other: Operation,
    _ otherPercent: Int
  ) {
    self.workload = workload
    self.keys = keys
    self.common = common
    self.other = other
    self.otherPercent = otherPercent
  }

  /// An operation that was drawn.
  struct Draw {
    let operation: Operation
    /// A key; of the newest rows, how far back.
    let key: UInt64
    let length: Int
  }

  /// Draws operations, so that drawing them is not part of what is measured.
  func draw(
    _ length: Int,
    of rows: Int,
    _ zipfian: ZipfianNumbers,
    seed: UInt64
  ) -> [Draw] {
    var random = SplitMix64(seed: seed)
    return (0..<length).map { _ in
      let isOther = random.next(below: 100) < otherPercent
      let number =
        switch keys {
        case .zipfian: 1 + zipfian.nextScattered(&random)
        case .uniform: 1 + random.next(below: rows)
        case .latest: zipfian.next(&random)
        }
      return Draw(
        operation: isOther ? other : common,
        key: UInt64(number),
        length: 1 + random.next(below: 100)
      )
    }
  }
}
